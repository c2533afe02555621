//! Several threads where there is enough to do; none are started for what is done sooner by one.

use std::io;
use std::sync::mpsc::{Sender, channel};

use rayon::ThreadBuilder;

use crate::Env;

/// Texts of more bytes than this are worth several threads.
pub const LONG: usize = 256 << 10;

/// What both give: side by side where the work on `bytes` bytes is worth it, else one after the other.
pub fn join<A: Send, B: Send>(bytes: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if bytes > LONG { rayon::join(a, b) } else { (a(), b()) }
}

/// Starts the threads that work is spread over: as many as `RAYON_NUM_THREADS` says, else one for each processor up to
/// 16, fewer where the system gives no more. Without any, all is done by the thread that asks. Called once, before any
/// of it is used; a second call does nothing.
pub fn start(env: &Env) {
    let wanted = env.var("RAYON_NUM_THREADS").and_then(|count| count.parse().ok());
    // They are started before it is known how much there is to do, and more are hardly quicker.
    let available = || std::thread::available_parallelism().map_or(1, |count| count.get().min(16));
    let waiting = spawn(wanted.filter(|&count| count > 0).unwrap_or_else(available));
    let count = waiting.len();
    let mut waiting = waiting.into_iter();
    let builder = rayon::ThreadPoolBuilder::new().num_threads(count.max(1));
    // An error says that the threads are there already.
    let _ = match count {
        0 => builder.use_current_thread().build_global(),
        _ => builder.spawn_handler(move |work| give(&mut waiting, work)).build_global(),
    };
}

/// Threads that wait to be told what they are; as many as can be had. A pool that starts its own fails with the first
/// that it does not get, and so does all that would use it.
fn spawn(count: usize) -> Vec<Sender<ThreadBuilder>> {
    let one = || {
        let (sender, receiver) = channel::<ThreadBuilder>();
        let thread = std::thread::Builder::new().spawn(move || receiver.recv().map(ThreadBuilder::run));
        thread.ok().map(|_| sender)
    };
    (0..count).map_while(|_| one()).collect()
}

fn give(waiting: &mut impl Iterator<Item = Sender<ThreadBuilder>>, work: ThreadBuilder) -> io::Result<()> {
    let sent = waiting.next().map(|thread| thread.send(work).is_ok());
    if sent == Some(true) { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_are_wanted_and_twice_is_once() {
        let env = |count| Env::fixed(jiff::Timestamp::UNIX_EPOCH, "/", &[("RAYON_NUM_THREADS", count)]);
        start(&env("3"));
        start(&env("5"));
        assert_eq!(rayon::current_num_threads(), 3);
        assert_eq!(join(LONG + 1, || 1, || 2), (1, 2));
    }
}

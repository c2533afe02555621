//! Whole histories, small and invented.

use proptest::prelude::*;

use super::IMPORTER;
use crate::told::{survives_cuts, survives_flips, told_of};

const HISTORY: &str = "
# aider chat started at 2026-02-03 10:11:12

> /home/mia/bin/aider --api-key x  
> Aider v0.90.0  
> Main model: acme/large with diff edit format  
> Git working dir: /home/mia/tides  

#### /add tides.py  
> Added tides.py to the chat  

#### name the station  
####   
#### and keep the tests  

I rename it.

#### Step 1
> a quote

tides.py
```python
<<<<<<< SEARCH
old = 1
#### no prompt  

> Tokens: no line of the program
=======
new = 1
>>>>>>> REPLACE
```

```python
other.py
<<<<<<< SEARCH
a
=======
b
>>>>>>> REPLACE
```

> Tokens: 2.4k sent, 91 received. Cost: $0.02 message, $0.10 session.  
> other.py  
> Allow edits to file that has not been added to the chat? (Y)es/(N)o [Yes]: n  
> Skipping edits to other.py  
> Applied edit to tides.py  
> Commit 4ab3df9 feat: Name the station  
> litellm.RateLimitError: too many  
> Retrying in 0.2 seconds...  
> The LLM did not conform to the edit format.  
> # 1 SEARCH/REPLACE block failed to match!

## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in x.py
words of the report
Just reply with fixed versions.  

Another try.

> Applied edit to whole.py  

# aider chat started at 2026-02-03 11:00:00

#### !ls  

#### <blank>  

#### second run  

Words in ``` a fence
```
that is never closed

> ^C KeyboardInterrupt  

#### go on  
";

#[test]
fn a_history_is_told() {
    let told = told_of(&IMPORTER, "x/.aider.chat.history.md", HISTORY.into());
    let mut streams = told.streams.iter();
    let (first, text) = streams.next().unwrap();
    insta::assert_snapshot!(text, @r#"
    6 prompt (command) /add tides.py
    8 prompt (typed) name the station

    and keep the tests
    11 reply I rename it.

    #### Step 1
    > a quote
    11 call e1 edit tides.py
    11 result e1 not recorded as applied (+1 −4)
    11 call e2 edit other.py
    11 result e2 not recorded as applied (+1 −1)
    32 Meta(Cost(0.02))
    35 result e2 failed skipped
    36 result e1 +1 −4 writes tides.py
    37 call e3 commit 4ab3df9 feat: Name the station
    37 result e3 committed
    38 failure litellm.RateLimitError: too many
    45 reply Another try.
    46 call e4 edit whole.py
    46 result e4 applied writes whole.py
    "#);
    let usage = told.tokens(first);
    assert_eq!((usage.input, usage.output), (2400, 91));
    insta::assert_snapshot!(streams.next().unwrap().1, @r"
    2 prompt (shell) ls
    4 prompt (typed) second run
    5 reply Words in ``` a fence
    ```
    that is never closed
    9 prompt (typed) go on
    ");
    assert_eq!(
        (told.skipped("command line"), told.skipped("empty prompt"), told.skipped("question of the program")),
        (1, 1, 1)
    );
}

#[test]
fn a_run_that_is_there_twice_is_told_once() {
    let twice = format!("words before\n{HISTORY}{HISTORY}");
    let told = told_of(&IMPORTER, "x/.aider.chat.history.md", twice.into());
    let once = told_of(&IMPORTER, "x/.aider.chat.history.md", HISTORY.into());
    assert_eq!(told.streams, once.streams);
    assert_eq!(told.consumed, once.consumed);
    assert_eq!((told.skipped("before the first run"), told.skipped("duplicate record") > 20), (1, true));
}

#[test]
fn what_is_put_behind_leaves_what_was_hashed() {
    let cut = HISTORY.find("> Applied edit to tides.py").unwrap();
    let (part, whole) = (told_of(&IMPORTER, "a", HISTORY[..cut].into()), told_of(&IMPORTER, "a", HISTORY.into()));
    assert_eq!(part.streams.keys().next(), whole.streams.keys().next());
}

#[test]
fn a_history_cut_at_any_byte_is_told_to_there() {
    survives_cuts(&IMPORTER, "a", HISTORY.as_bytes(), false);
}

#[test]
fn a_reply_without_end_takes_no_more_time_than_its_length() {
    let mut text = HISTORY.to_owned();
    text.push_str(&"<<<<<<< SEARCH\n=======\n```\n".repeat(50_000));
    told_of(&IMPORTER, "a", text.into());
}

#[test]
fn what_the_program_passes_on_is_said_once() {
    let history = "# aider chat started at 2026-02-03 10:11:12

#### /ask name  the station  

#### name the station  

I would.

* [ ] So.

> Tokens: 2.4k sent, 91 received.  

#### I would.  
####   
#### * [ ] So.  

Done.

#### I would.  

#### I would.  
";
    let told = told_of(&IMPORTER, ".aider.chat.history.md", history.into());
    let stream = told.streams.values().next().unwrap().lines();
    let prompts: Vec<_> = stream.filter(|line| line.contains(" prompt ")).collect();
    assert_eq!(told.skipped("words that the program passes on"), 2);
    assert_eq!(prompts.len(), 3, "{prompts:?}");
}

proptest! {
    #[test]
    fn flipped_bytes_never_break_the_account(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        survives_flips(&IMPORTER, "a", HISTORY.as_bytes(), &flips);
    }
}

//! What is known of a session by its number alone, so that notes written side by side can link to one another.
//!
//! Eight sessions are a family of work: six of their own, and two of sub-agents that one of the six started.

use super::random::Random;
use super::word;

const FAMILY: usize = 8;
const OWN: usize = 6;
/// Seconds of the two years in which the sessions took place, and when they end.
const YEARS: i64 = 2 * 365 * 86_400;
const END: i64 = 1_795_000_000;

const AGENTS: &[&str] = &["coder@2.0", "coder@2.1", "planner@1.2", "claude", "codex@0.4", "writer", "tester@1.0"];
const HELPERS: &[&str] = &["reviewer@1.0", "researcher", "explore", "linter@0.3", "general-purpose"];
const CHANNELS: &[&str] = &["dev", "api", "web", "infra", "docs", "data", "research", "mobile"];
const MODELS: &[&str] = &["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5-codex", "gemini-3-pro"];
const STATUSES: &[(&str, usize)] = &[("completed", 72), ("failed", 8), ("abandoned", 9), ("paused", 8), ("active", 3)];

/// A session's name and frontmatter.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Name of the note, and `session_id`.
    pub(crate) name: String,
    /// Folder of the note in the vault.
    pub(crate) folder: String,
    pub(crate) title: String,
    /// Seconds since 1970.
    pub(crate) started: i64,
    pub(crate) agents: Vec<&'static str>,
    pub(crate) channel: &'static str,
    pub(crate) model: &'static str,
    pub(crate) status: &'static str,
    pub(crate) project: usize,
    pub(crate) branch: String,
    pub(crate) host_session: String,
    /// Number of the session that started it.
    pub(crate) parent: Option<usize>,
}

/// Who started session `number`, if that is a sub-agent's.
fn parent(seed: u64, number: usize) -> Option<usize> {
    let place = number % FAMILY;
    (place >= OWN).then(|| number - place + Random::new(seed ^ 0x50, number as u64).below(OWN))
}

/// The sub-agents' sessions that session `number` started, of `sessions` in all.
pub(crate) fn children(seed: u64, number: usize, sessions: usize) -> Vec<usize> {
    let first = number - number % FAMILY;
    let helpers = (first + OWN..first + FAMILY).filter(|child| *child < sessions);
    helpers.filter(|child| parent(seed, *child) == Some(number)).collect()
}

impl Identity {
    /// The session of that number.
    pub(crate) fn of(seed: u64, number: usize) -> Self {
        let mut random = Random::new(seed, number as u64);
        let host = |random: &mut Random| {
            let mut host = String::new();
            for (place, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                host.push_str(if place > 0 { "-" } else { "" });
                word::hash(&mut host, digits, random);
            }
            host
        };
        if let Some(parent) = parent(seed, number) {
            let above = Self::of(seed, parent);
            let agent = random.pick(HELPERS);
            let (name, _) = agent.split_once('@').unwrap_or((agent, ""));
            let mut title = String::new();
            word::words(&mut title, random.between(3, 7), &mut random);
            return Self {
                name: format!("{}-{name}-{}", above.name, number % FAMILY),
                title,
                started: above.started + 300,
                agents: vec![agent],
                model: random.pick(MODELS),
                status: "completed",
                host_session: format!("{}/agent-{number:x}", above.host_session),
                parent: Some(parent),
                ..above
            };
        }
        // The newest sessions have the highest numbers of no note: time and place in the folder are not related.
        let started = END - i64::try_from(random.next() % YEARS.unsigned_abs()).unwrap_or(0);
        let when = jiff::Timestamp::from_second(started).unwrap_or_default();
        let day = when.strftime("%Y-%m-%d").to_string();
        let mut title = String::new();
        word::words(&mut title, random.between(2, 7), &mut random);
        let slug: Vec<&str> = title.split(' ').take(5).collect();
        let old = END - started > YEARS / 4;
        let mut branch = "main".to_owned();
        if random.percent(60) {
            "feature/".clone_into(&mut branch);
            word::name(&mut branch, &mut random);
        }
        let mut agents = vec![random.pick(AGENTS)];
        if random.percent(35) {
            let second = random.pick(AGENTS);
            agents.extend((second != agents[0]).then_some(second));
        }
        let mut share = random.below(100);
        let status = STATUSES.iter().find(|(_, weight)| {
            let found = share < *weight;
            share = share.saturating_sub(*weight);
            found
        });
        Self {
            name: format!("{day}-{}-{number}", slug.join("-")),
            folder: if old { format!("sessions/archive/{}", &day[..7]) } else { "sessions".to_owned() },
            started,
            agents,
            channel: CHANNELS[random.rank(CHANNELS.len())],
            model: MODELS[random.rank(MODELS.len())],
            status: status.map_or("completed", |(status, _)| status),
            project: random.rank(40),
            branch,
            host_session: host(&mut random),
            parent: None,
            title,
        }
    }

    /// The working directory.
    pub(crate) fn directory(&self) -> String {
        let mut directory = "~/code/".to_owned();
        word::word(&mut directory, 400 + self.project);
        directory
    }

    /// The note's path in the vault.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}.md", self.folder, self.name)
    }
}

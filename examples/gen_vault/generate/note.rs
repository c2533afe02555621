//! A whole note: frontmatter, tasks, phases, and in each phase what the note still lacks.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::identity::{Identity, children};
use super::random::Random;
use super::share::{Kind, Share};
use super::step::{self, Clock};
use super::{RARE, RARE_EVERY, RARE_FIRST, Recipe, part, word};

/// The note of session `number`, with the bytes of each kind.
pub(crate) fn note(recipe: &Recipe, number: usize) -> (Identity, Share) {
    let own = Identity::of(recipe.seed, number);
    let mut random = Random::new(recipe.seed ^ 0xb0d7, number as u64);
    let steps = random.count(recipe.steps as f64);
    let helpers: Vec<Identity> = children(recipe.seed, number, recipe.sessions)
        .into_iter()
        .map(|child| Identity::of(recipe.seed, child))
        .collect();
    let length = 60 * i64::try_from(steps).unwrap_or(0);
    let mut note = Share::default();
    note.add(Kind::Head, |text| {
        head(text, recipe, &own, &helpers, length, &mut random);
        if random.percent(30) {
            tasks(text, own.status == "completed", &mut random);
        }
    });
    let mut clock = Clock { now: own.started + 6, day: 0 };
    let (mut done, mut phase, mut callouts, mut failed) = (0, 0, 0, None);
    let mut helpers = helpers.iter();
    while done < steps {
        phase += 1;
        clock.day = clock.now - clock.now.rem_euclid(86_400);
        note.add(Kind::Head, |text| {
            text.push_str(if phase > 1 && random.percent(12) { "### " } else { "## " });
            word::words(text, random.between(2, 7), &mut random);
            let agent = random.pick(&own.agents);
            let _ = write!(text, " @{agent} #{}\n\n*{}*", own.channel, time(clock.now));
            if phase > 1 && random.percent(15) {
                let _ = write!(text, " after: [[#^p-{:02}]]", phase - 1);
            }
            let _ = write!(text, " ^p-{phase:02}\n\n");
        });
        let here = random.between(3, 14).min(steps - done);
        let mut left = here;
        while left > 0 {
            if note.lacks(Kind::User) {
                let at = clock.fact();
                note.add(Kind::User, |text| part::user(text, own.project, &at, &mut random));
            }
            note.add(Kind::Head, |text| text.push_str("**Tool calls:**\n"));
            for _ in 0..random.between(1, 9).min(left) {
                done += 1;
                left -= 1;
                if step::step(&mut note, done, own.project, &mut clock, &mut random) {
                    failed = Some(done);
                }
            }
            note.add(Kind::Head, |text| text.push('\n'));
            while note.lacks(Kind::Prose) {
                note.add(Kind::Prose, |text| part::prose(text, own.project, &mut random));
            }
            if note.lacks(Kind::Callout) {
                callouts += 1;
                let steps = (done, failed);
                note.add(Kind::Callout, |text| part::callout(text, own.project, steps, callouts, &mut random));
            }
        }
        if let Some(helper) = helpers.next() {
            note.add(Kind::Callout, |text| subagent(text, helper, &mut random));
        }
    }
    for helper in helpers {
        note.add(Kind::Callout, |text| subagent(text, helper, &mut random));
    }
    note.add(Kind::Prose, |text| {
        if number % RARE_EVERY == RARE_FIRST {
            let _ = write!(text, "The cause was {RARE}, and nothing else.\n\n");
        }
        text.push_str("All done.\n");
    });
    (own, note)
}

fn head(text: &mut String, recipe: &Recipe, own: &Identity, helpers: &[Identity], length: i64, random: &mut Random) {
    let Identity { name, title, status, channel, model, branch, host_session, .. } = own;
    let _ =
        write!(text, "---\ntype: session\nsession_id: {name}\ntitle: \"{title}\"\nstarted: {}\n", time(own.started));
    if *status != "active" && *status != "paused" {
        let _ = writeln!(text, "ended: {}", time(own.started + length));
    }
    let _ = write!(text, "status: {status}\nchannel: {channel}\nparticipants:\n");
    for agent in &own.agents {
        let _ = writeln!(text, "  - {agent}");
    }
    let tokens =
        |of: &Identity| Random::new(recipe.seed ^ 0x70, u64::try_from(of.started).unwrap_or(0)).rank(900_000) + 500;
    let _ = write!(text, "model: {model}\ntokens_used: {}\n", tokens(own));
    if random.percent(40) {
        let cents = random.rank(2_000);
        let _ = writeln!(text, "cost_usd: {}.{:02}", cents / 100, cents % 100);
    }
    let _ = write!(
        text,
        "project: {}\nbranch: {branch}\nhost: claude-code\nhost_session: {host_session}\n\
         transcript: ~/.claude/projects/{}/{host_session}.jsonl\n",
        own.directory(),
        own.project,
    );
    if let Some(parent) = own.parent {
        let _ = writeln!(text, "parent: \"[[{}]]\"", Identity::of(recipe.seed, parent).name);
    }
    if *status == "paused" {
        text.push_str("resume_point: p-01\n");
    }
    if !helpers.is_empty() {
        text.push_str("subagents:\n");
        for helper in helpers {
            let (agent, _) = helper.agents[0].split_once('@').unwrap_or((helper.agents[0], ""));
            let _ = write!(text, "  - session: {}\n    agent: {agent}\n", helper.name);
            let _ = write!(text, "    model: {}\n    tokens: {}\n", helper.model, tokens(helper));
        }
        text.push_str("subagent_links:\n");
        for helper in helpers {
            let _ = writeln!(text, "  - \"[[{}]]\"", helper.name);
        }
    }
    if random.percent(30) {
        text.push_str("tags:\n");
        for _ in 0..random.between(1, 3) {
            text.push_str("  - t-");
            word::word(text, random.rank(120));
            text.push('\n');
        }
    }
    let _ = write!(text, "---\n# {title}\n\n");
}

fn tasks(text: &mut String, completed: bool, random: &mut Random) {
    text.push_str("```tasks\n[\n");
    let count = random.between(2, 7);
    for task in 1..=count {
        let status = if completed && random.percent(90) {
            "completed"
        } else {
            random.pick(&["pending", "in_progress", "completed"])
        };
        let _ = write!(text, "  {{\"id\":\"TASK-{task:03}\",\"content\":\"");
        word::words(text, random.between(3, 9), random);
        let priority = random.pick(&["high", "medium", "low"]);
        let _ = write!(text, "\",\"status\":\"{status}\",\"priority\":\"{priority}\"}}");
        text.push_str(if task < count { ",\n" } else { "\n" });
    }
    text.push_str("]\n```\n\n");
}

fn subagent(text: &mut String, helper: &Identity, random: &mut Random) {
    let _ = write!(
        text,
        "> [!subagent] @{} ({})\n> mode: link\n> [[{}]]\n> Task: ",
        helper.agents[0], helper.model, helper.name
    );
    word::sentence(text, helper.project, random);
    text.push_str("\n> Summary: ");
    word::sentence(text, helper.project, random);
    text.push_str("\n\n");
}

/// A time as notes have it.
fn time(second: i64) -> String {
    Timestamp::from_second(second).map(|time| time.to_string()).unwrap_or_default()
}

//! The session from a stream's entries: phases with their items, the callouts about steps, frontmatter.
//!
//! Callouts about a step stand below the list that it is in, so that lists of steps stay whole.

use std::collections::BTreeMap;

use super::draft::{Child, Draft, DraftPatch};
use super::facts::StreamFacts;
use super::step::{self, Run, standing_commits};
use super::stream::{Begun, Fold, Last, NoteEntry};
use super::{brief, part, place, top, trouble};
use crate::agent_table;
use crate::cursor::Cursor;
use crate::detail::Level;
use crate::event::Usage;
use crate::mask::Masks;
use crate::open::{OpenPoint, open_points};
use crate::source::Consumed;
use crate::words::title;
use crate::{Agent, Fence, Item, Link, Meta, Phase, Session, Status, Tasks, usage};
use cru_base::text::sanitise;

/// `p-01` for the first.
pub(super) fn phase_id(index: usize) -> String {
    format!("p-{:02}", index + 1)
}

/// Takes out what the steps wrote.
fn patches(steps: &mut [step::StepDraft], masks: &Masks) -> Vec<DraftPatch> {
    let mut patches = Vec::new();
    for draft in steps {
        let (id, time) = (draft.step.id.clone().unwrap_or_default(), draft.step.time);
        let written = std::mem::take(&mut draft.written).into_iter();
        patches.extend(written.map(|it| DraftPatch {
            step: id.clone(),
            time,
            path: it.path,
            diff: masks.known(&it.diff).into_owned(),
        }));
    }
    patches
}

impl Fold {
    /// The stream is read to its end.
    pub fn finish(mut self, consumed: Consumed) -> Draft {
        self.end();
        let Self {
            header,
            host,
            masks,
            mut entries,
            boundary,
            steps,
            tasks,
            mut facts,
            last,
            steps_at_reply,
            planned,
            options,
            talk,
            ..
        } = self;
        // A compaction that nothing follows yet.
        entries.extend(boundary.into_iter().flat_map(|it| it.items).map(NoteEntry::item));
        let status = match last {
            Last::ApiError => Status::Failed,
            Last::Interrupt | Last::BrokenOff => Status::Abandoned,
            Last::Work if steps.open_from(steps_at_reply) => Status::Abandoned,
            Last::Work => Status::Completed,
        };
        // A sub-agent of which nothing says what it is.
        let role = header.agent.as_deref().or_else(|| header.key.agent.as_ref().map(|_| "agent"));
        let subagent = role.map(|name| Agent { name: place::agent_name(name), version: None });
        let name = place::agent_name(facts.agent.as_deref().unwrap_or(&host));
        let acting = |version: Option<&String>| {
            let version = version.or(facts.version.as_ref()).map(|version| agent_version(version));
            subagent.clone().unwrap_or_else(|| Agent { name: name.clone(), version })
        };
        let channel = facts.project.as_deref().or(facts.cwd.as_deref()).and_then(place::channel);

        let mut steps = steps.finish();
        let transcript = header.transcript.to_string_lossy();
        let transcript = transcript.as_ref();
        let acted = !steps.is_empty();
        facts.naming.committed(standing_commits(&steps));
        let mut errors = trouble::errors(&steps);
        let entries = match options.level {
            Level::Brief => brief::shorten(entries, &steps, &errors),
            Level::Normal | Level::Full => entries,
        };
        // Where the working directory already says `~`, the transcript's own path tells what that stands for.
        let home = facts.home.as_deref().or_else(|| place::home_of(transcript));
        let project = facts.project.as_deref().or(facts.cwd.as_deref()).map(|cwd| place::shorten(cwd, home));
        let live = tasks.live();
        let reply = facts.naming.last_reply();
        let ended = last == Last::Work && steps_at_reply == steps.len() && !reply.is_empty();
        let (asked, more) = facts.naming.asked();
        let told = top::Told {
            asked: asked.or(header.task.as_deref()),
            more,
            conclusion: Some(reply).filter(|_| ended),
            is_silent: agent_table::by_host(&host).is_some_and(|agent| agent.silent),
            asks: ended && talk.asked,
            planned,
            has_branch: !facts.branches.is_empty(),
            end: match last {
                Last::ApiError => Some("ended by an error of the model service"),
                Last::Interrupt => Some("interrupted by the user"),
                Last::BrokenOff => Some("interrupted"),
                Last::Work => None,
            },
            project: project.as_deref(),
        };
        let open = top::open_points(&told, &steps);
        let all_open = {
            let open = open.iter().map(OpenPoint::as_property).collect();
            let preface = vec![Item::Tasks(Tasks { tasks: live.clone(), ..Tasks::default() })];
            open_points(&Session { meta: Meta { open, ..Meta::default() }, preface, ..Session::default() })
        };
        let summary = top::body(&told, &all_open, &steps);
        // What the host shows of a change is counted above.
        let patches = patches(&mut steps, &masks);
        let open = open.iter().map(OpenPoint::as_property).collect();
        let mut steps: Vec<Option<step::StepDraft>> = steps.into_iter().map(Some).collect();
        let mut page = Page::default();
        if !live.is_empty() {
            page.preface.push(Item::Tasks(Tasks { tasks: live, ..Tasks::default() }));
        }
        for entry in entries {
            match entry {
                NoteEntry::Phase(begun) => {
                    let Begun { title, time, from, version } = *begun;
                    page.flush();
                    page.phases.push(Phase {
                        id: phase_id(page.phases.len()),
                        id_written: true,
                        level: 2,
                        title,
                        agent: Some(acting(version.as_ref())),
                        channel: channel.clone(),
                        started: time,
                        from,
                        ..Phase::default()
                    });
                }
                NoteEntry::Step(index) => {
                    // Every index stands in the entries once.
                    let Some(mut draft) = steps.get_mut(index).and_then(Option::take) else { continue };
                    if options.level == Level::Brief {
                        brief::shorten_step(&mut draft.step);
                    }
                    page.put(Item::Step(draft.step));
                    page.later.extend(draft.runs.into_iter().map(|run| Later::Run(run, step::step_link(index))));
                    page.later.extend(errors.remove(&index).map(Later::Item));
                }
                NoteEntry::Reply(text) => {
                    page.flush();
                    page.put(part::prose(text));
                }
                NoteEntry::Item(item) => {
                    page.flush();
                    page.put(*item);
                }
            }
        }
        page.flush();
        let models = by_model(&facts);
        if !models.is_empty() {
            page.put(part::usage(&usage::title(&models), usage::table(&models)));
        }

        let (more, memory) = (facts.properties.as_frontmatter(), facts.memory.as_yaml());
        let participants = page.participants();
        let cursor = Cursor::first(&consumed).to_string();
        let title = std::mem::take(&mut facts.naming).title(header.task.as_deref());
        let slug = title.as_deref().map(title::name_part).filter(|part| !part.is_empty());
        let meta = Meta {
            kind: Some("session".to_owned()),
            title: title.clone(),
            started: facts.started(),
            ended: facts.latest,
            status: Some(status),
            channel,
            participants,
            model: models.first().map(|(model, _)| usage::plain_model(model).to_owned()).or(facts.model),
            tokens_used: facts.tokens.or_else(|| usage::total(&models).known().filter(|_| !models.is_empty())),
            cost_usd: facts.total_cost.or(facts.cost).filter(|cost| cost.is_finite()).map(rounded),
            project,
            open,
            branch: facts.branches.pop(),
            commit: facts.commit,
            host: Some(host),
            host_version: facts.version,
            host_session: Some(sanitise(&header.key.to_string()).into_owned()),
            transcript: Some(place::shorten(&sanitise(transcript), home)),
            detail: options.detail().written(),
            cursor: Some(cursor),
            tags: facts.tags,
            extra: more.iter().map(|(key, value)| (key.to_owned(), value.line())).collect(),
            more,
            ..Meta::default()
        };
        let memory = memory.into_iter().map(|body| Fence { info: "yaml memory".to_owned(), body, ..Fence::default() });
        let mut session =
            Session { meta, heading: title, preface: page.preface, phases: page.phases, memory: memory.collect() };
        if let Some(body) = summary {
            let body =
                [Some(body), top::time_line(&session)].into_iter().flatten().collect::<Vec<_>>().join(top::BREAK);
            session.preface.insert(0, part::summary(body));
        }
        Draft {
            slug: slug.unwrap_or_else(|| "session".to_owned()),
            masked: masks.counts().clone(),
            patches,
            continued_in: facts.continued_in,
            aside: header.aside,
            // What a sub-agent was asked its parent knows, too: what it did is worth a note; mere words are not.
            empty: !(facts.kept || (facts.worked && (facts.asked || (acted && header.key.agent.is_some())))),
            key: header.key,
            parent: header.parent,
            agent: subagent,
            transcript: header.transcript,
            session,
            children: page.children,
            consumed,
        }
    }
}

/// A callout that waits for the end of the list of steps.
#[expect(clippy::large_enum_variant, reason = "few at a time, and never moved but once")]
enum Later {
    Run(Run, Link),
    Item(Item),
}

/// The note's body as it grows.
#[derive(Default)]
struct Page {
    preface: Vec<Item>,
    phases: Vec<Phase>,
    later: Vec<Later>,
    children: Vec<Child>,
}

impl Page {
    /// Puts an item at the end; prose joins the prose before it, as it will be read back.
    fn put(&mut self, item: Item) {
        let items = self.phases.last_mut().map_or(&mut self.preface, |phase| &mut phase.items);
        match (items.last_mut(), item) {
            (Some(Item::Prose(before)), Item::Prose(it)) => {
                before.text.push_str("\n\n");
                before.text.push_str(&it.text);
            }
            (_, item) => items.push(item),
        }
    }

    /// Puts what waited.
    fn flush(&mut self) {
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Item(item) => self.put(item),
                Later::Run(run, step) => self.put_run(run, &step),
            }
        }
    }

    fn put_run(&mut self, mut run: Run, step: &Link) {
        let stream = run.stream.take();
        let agent = Agent { name: place::agent_name(run.agent.as_deref().unwrap_or("agent")), version: None };
        self.put(Item::Subagent(part::subagent(agent, run, step)));
        let phase = self.phases.len().checked_sub(1);
        if let (Some(stream), Some(phase)) = (stream, phase) {
            let item = self.phases[phase].items.len().saturating_sub(1);
            self.children.push(Child { stream, phase, item });
        }
    }

    /// The agents of the phases, each once, in order.
    fn participants(&self) -> Vec<Agent> {
        let mut agents: Vec<Agent> = Vec::new();
        for agent in self.phases.iter().filter_map(|phase| phase.agent.as_ref()) {
            if !agents.contains(agent) {
                agents.push(agent.clone());
            }
        }
        agents
    }
}

/// A sum of dollars without the noise of adding: to a millionth.
fn rounded(cost: f64) -> f64 {
    const PARTS: f64 = 1e6;
    (cost * PARTS).round() / PARTS
}

/// A version as it may stand behind `@`: without blanks.
fn agent_version(version: &str) -> String {
    version.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+')).take(40).collect()
}

/// Tokens by model, the one with the most output first.
fn by_model(facts: &StreamFacts) -> Vec<(String, Usage)> {
    let mut sums: BTreeMap<&str, Usage> = BTreeMap::new();
    for (model, usage) in facts.usage.values() {
        // Hosts write `<synthetic>` for words of their own.
        if !model.is_empty() && !model.starts_with('<') {
            sums.entry(model).or_default().add(*usage);
        }
    }
    let mut rows: Vec<(String, Usage)> = sums.into_iter().map(|(model, usage)| (model.to_owned(), usage)).collect();
    rows.sort_by(|a, b| b.1.output.cmp(&a.1.output).then_with(|| a.0.cmp(&b.0)));
    rows
}

//! The folder that a command works in, followed through its `cd`s by name alone.

/// A folder in a project.
#[derive(Clone, Debug)]
pub(super) struct CommandFolder<'p> {
    /// The names of the project's own folder.
    project: &'p [&'p str],
    /// Names of folders below it.
    below: Vec<String>,
}

impl<'p> CommandFolder<'p> {
    pub(super) const fn new(project: &'p [&'p str]) -> Self {
        Self { project, below: Vec::new() }
    }

    /// Goes to another folder; `false` where that is not in the project.
    pub(super) fn enter(&mut self, to: &str) -> bool {
        match self.resolve(to) {
            Some(below) => {
                self.below = below;
                true
            }
            None => false,
        }
    }

    /// Whether a path lies in the project.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.resolve(path).is_some()
    }

    fn resolve(&self, path: &str) -> Option<Vec<String>> {
        if path.is_empty() || path == "-" {
            return None;
        }
        let absolute = path.starts_with(['/', '~']);
        let (mut names, rest) = if absolute {
            let inside = |project: &&str| {
                let project = project.trim_end_matches('/');
                let rest = path.strip_prefix(project).filter(|_| !project.is_empty())?;
                (rest.is_empty() || rest.starts_with('/')).then_some(rest)
            };
            (Vec::new(), self.project.iter().find_map(inside)?)
        } else {
            (self.below.clone(), path)
        };
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()?),
                name => names.push(name.to_owned()),
            }
        }
        Some(names)
    }
}

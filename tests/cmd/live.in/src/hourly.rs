pub fn parse(line: &str) {}

#!/usr/bin/env node
// Runs the program that the package of this platform holds, with the same arguments, standard streams, signals and exit code.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(3);
}

function find() {
  const platform = `${process.platform}-${process.arch}`;
  const name = process.platform === "win32" ? "cru.exe" : "cru";
  try {
    return require.resolve(`cru-${platform}/bin/${name}`);
  } catch {
    return fail(
      `the package cru-${platform} is not installed. Either there is none for this platform, or npm was told to leave ` +
        "out optional packages: install again without --omit=optional.",
    );
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`the program does not start: ${error.message}`));

// A terminal sends Ctrl-C and Ctrl-\ to the program as well, which decides what they do.
const onTerminal = [0, 1, 2].some(isatty);
const handlers = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2"].map((signal) => {
  const bySelf = onTerminal && (signal === "SIGINT" || signal === "SIGQUIT");
  return [signal, () => bySelf || child.kill(signal)];
});
// Windows does not know each of them.
for (const [signal, handler] of handlers.filter(([signal]) => signal in constants.signals)) process.on(signal, handler);

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // Who waits for this process learns which signal ended the program.
  for (const [name, handler] of handlers) process.removeListener(name, handler);
  process.kill(process.pid, signal);
});

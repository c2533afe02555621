// Written by `cru hooks install --host opencode`; `cru hooks uninstall --host opencode` removes it.
// Tells cru what happens in a session. Waits for nothing and never fails.
import { spawn } from "node:child_process"

const call = {call}

export const Cru = async ({ directory }) => {
  const tell = (event, name, sessionID, more) => {
    if (!sessionID) return
    try {
      const [program, ...words] = call
      const child = spawn(program, [words[0], event, ...words.slice(1)], { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", () => {})
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ session_id: sessionID, cwd: directory, hook_event_name: name, ...more }))
    } catch {}
  }
  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.created") tell("session-start", event.type, properties.info?.id, {})
      if (event.type === "session.idle") tell("stop", event.type, properties.sessionID, {})
    },
    "chat.message": async (input, output) => {
      const text = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      tell("prompt", "chat.message", input.sessionID, { prompt: text.join("\n") })
    },
    "tool.execute.before": async (input, output) => {
      tell("pre-tool", "tool.execute.before", input.sessionID, {
        tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args,
      })
    },
    "tool.execute.after": async (input, output) => {
      tell("post-tool", "tool.execute.after", input.sessionID, {
        tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args, tool_response: output?.output,
      })
    },
    "experimental.session.compacting": async (input) => {
      tell("pre-compact", "experimental.session.compacting", input.sessionID, {})
    },
  }
}

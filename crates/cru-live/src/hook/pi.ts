// Written by `cru hooks install --host pi`; `cru hooks uninstall --host pi` removes it.
// Tells cru what happens in a session. Waits for nothing and never fails.
import { spawn } from "node:child_process"

const call: string[] = {call}

export default function (pi: any) {
  const tell = (event: string, name: string, ctx: any, more: object) => {
    try {
      const sessions = ctx.sessionManager
      const [program, ...words] = call
      const child = spawn(program, [words[0], event, ...words.slice(1)], { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", () => {})
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({
        session_id: sessions.getSessionId(), transcript_path: sessions.getSessionFile(), cwd: ctx.cwd,
        hook_event_name: name, ...more,
      }))
    } catch {}
  }
  pi.on("session_start", async (event: any, ctx: any) => tell("session-start", "session_start", ctx, {}))
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    tell("prompt", "before_agent_start", ctx, { prompt: event.prompt })
  })
  pi.on("tool_call", async (event: any, ctx: any) => {
    tell("pre-tool", "tool_call", ctx, {
      tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input,
    })
  })
  pi.on("tool_result", async (event: any, ctx: any) => {
    const texts = (event.content ?? []).filter((part: any) => part.type === "text").map((part: any) => part.text)
    const result = event.isError ? { error: texts.join("\n") } : { tool_response: texts.join("\n") }
    tell(event.isError ? "post-tool-failure" : "post-tool", event.isError ? "" : "tool_result", ctx, {
      tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input, ...result,
    })
  })
  pi.on("session_before_compact", async (event: any, ctx: any) => tell("pre-compact", "session_before_compact", ctx, {}))
  pi.on("agent_end", async (event: any, ctx: any) => tell("stop", "agent_end", ctx, {}))
  pi.on("session_shutdown", async (event: any, ctx: any) => tell("session-end", "session_shutdown", ctx, {}))
}

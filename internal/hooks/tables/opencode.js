// The hook of Capstan for OpenCode: capstan hook install wrote it.
import { spawnSync } from 'node:child_process'

const command = COMMAND

const ask = (event, payload) => {
  const p = spawnSync(command[0], [...command.slice(1), '--event', event], { input: JSON.stringify(payload), encoding: 'utf8', timeout: 60000 })
  if (p.status !== 0) return p.stderr || 'Refused by the gate: capstan hook did not answer.'
  if (!p.stdout) return ''
  try { return JSON.parse(p.stdout).reason } catch { return p.stdout }
}

export const Capstan = async ({ client, directory }) => ({
  'tool.execute.before': async (input, output) => {
    const reason = ask('tool.execute.before', { sessionID: input.sessionID, cwd: directory, tool_name: input.tool, tool_input: output.args })
    if (reason) throw new Error(reason)
  },
  event: async ({ event }) => {
    if (event.type !== 'session.idle') return
    const id = event.properties.sessionID
    const messages = await client.session.messages({ path: { id } })
    // The last message may be the prompt below, which OpenCode does not answer if it ends.
    const last = messages.data?.findLast(m => m.info.role === 'assistant')
    const text = last?.parts?.filter(p => p.type === 'text').map(p => p.text).join('\n') ?? ''
    const reason = ask('session.idle', { sessionID: id, cwd: directory, last_assistant_message: text })
    if (reason) await client.session.prompt({ path: { id }, body: { parts: [{ type: 'text', text: reason }] } })
  }
})

import type { RunningPart, World } from './part.ts'
import { parts } from './parts/index.ts'
import type { PartName } from './ports.ts'

/** Starts what the world has; when one part does not start, those that did are stopped again. */
export async function startAll(world: World): Promise<RunningPart> {
  const running: RunningPart[] = []
  const stop = async () => {
    await Promise.all(running.map((part) => part.stop()))
  }
  const start = async (name: PartName) => {
    running.push(await parts[name](world))
  }
  const names = Object.keys(parts) as PartName[]
  const wanted = names.filter((name) => world.has.has(name))
  try {
    // The mailbox first: others hand it on.
    if (world.has.has('mailbox')) await start('mailbox')
    const rest = wanted.filter((name) => name !== 'mailbox')
    const results = await Promise.allSettled(rest.map(start))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

import { setTimeout as wait } from 'node:timers/promises'
import { ConsoleError } from '../error-answers.ts'
import { type LimitStatistics, readStatistics } from './statistics.ts'

/** Whether the service works with what was saved. */
export interface LoadReport {
  readonly state: 'loaded' | 'refused' | 'unseen'
  readonly message: string
}

const patienceMs = 10_000
const pauseMs = 100

const loaded: LoadReport = { state: 'loaded', message: 'The service has loaded it.' }
const refused: LoadReport = {
  state: 'refused',
  message:
    'The service has refused the rule files and goes on with the rules it had; its log says why.',
}
const unseen: LoadReport = {
  state: 'unseen',
  message:
    'The service has not loaded it so far. It may watch another directory, or only its root (RUNTIME_WATCH_ROOT).',
}

/** Changes files, and waits until the service has noticed. */
export async function changeAndAwaitLoad<Result>(
  debugUrl: string,
  change: () => Promise<Result>,
): Promise<{ result: Result; load: LoadReport }> {
  const before = await tryStatistics(debugUrl)
  const result = await change()
  if (before instanceof ConsoleError) return { result, load: toUnseen(before) }
  const deadlineMs = performance.now() + patienceMs
  while (performance.now() < deadlineMs) {
    await wait(pauseMs)
    const now = await tryStatistics(debugUrl)
    if (now instanceof ConsoleError) return { result, load: toUnseen(now) }
    if (now.loads > before.loads) return { result, load: loaded }
    if (now.refusals > before.refusals) return { result, load: refused }
  }
  return { result, load: unseen }
}

async function tryStatistics(debugUrl: string): Promise<LimitStatistics | ConsoleError> {
  try {
    return await readStatistics(debugUrl, { signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    if (error instanceof ConsoleError) return error
    throw error
  }
}

function toUnseen({ message }: ConsoleError): LoadReport {
  return { state: 'unseen', message: `Nobody knows whether it is in force. ${message}` }
}

import { toMessage } from '../../../api.ts'

interface FailedItem<Item> {
  readonly item: Item
  readonly message: string
}

export interface Progress<Item> {
  /** The number of items that succeeded. */
  readonly done: number
  readonly failures: readonly FailedItem<Item>[]
  /** The items that were not tried, because the run was stopped. */
  readonly skipped: readonly Item[]
}

/** A few at a time: fast enough, and the auth server keeps most of its connections for other callers. */
const atOnce = 4

/** Runs an action for every item. A failure does not stop the others; aborting the signal does. */
export async function runAll<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  signal: AbortSignal,
  onProgress: (progress: Progress<Item>) => void,
): Promise<Progress<Item>> {
  const waiting = [...items]
  const failures: FailedItem<Item>[] = []
  let done = 0
  const toProgress = () => ({ done, failures: [...failures], skipped: [...waiting] })
  const work = async () => {
    while (!signal.aborted) {
      const item = waiting.shift()
      if (item === undefined) return
      try {
        await act(item)
        done += 1
      } catch (error) {
        failures.push({ item, message: toMessage(error) })
      }
      onProgress(toProgress())
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return toProgress()
}

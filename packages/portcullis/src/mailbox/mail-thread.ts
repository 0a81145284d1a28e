import { Worker } from 'node:worker_threads'
import { type MessageContent, toUnread } from './read-email.ts'

/** Reads mails in another thread: one that takes long, or a lot of memory, holds up nothing else. */
export interface MailReader extends AsyncDisposable {
  /** A mail that cannot be read within the limits is shown as the text that it is. */
  read(source: Buffer): Promise<MessageContent>
}

export interface MailReaderSettings {
  /** How long one mail may take. The usual ones take milliseconds. */
  readonly maxMs?: number
  readonly maxHeapMb?: number
  /** The thread's program; another one in tests. */
  readonly program?: URL
}

interface Thread {
  readonly worker: Worker
  /** Resolves with its first message, which says that it has loaded its program. */
  readonly loaded: Promise<void>
  /** Resolves with undefined when it ends, for whatever reason. */
  readonly ended: Promise<undefined>
}

export function createMailReader(settings: MailReaderSettings = {}): MailReader {
  const { maxMs = 10_000, maxHeapMb = 256 } = settings
  const program = settings.program ?? new URL('./mail-worker.ts', import.meta.url)
  let thread: Thread | undefined
  /** Mails are read one after the other, so that the time of one is not the fault of another. */
  let last: Promise<unknown> = Promise.resolve()

  const readOne = async (source: Buffer): Promise<MessageContent> => {
    thread ??= startThread(program, maxHeapMb)
    const { worker, loaded, ended } = thread
    await Promise.race([loaded, ended])
    const answer = new Promise<MessageContent>((resolve) => worker.once('message', resolve))
    worker.postMessage(source)
    const timer = setTimeout(() => void worker.terminate(), maxMs)
    const content = await Promise.race([answer, ended])
    clearTimeout(timer)
    if (content !== undefined) return content
    thread = undefined
    return toUnread(source)
  }
  return {
    read(source) {
      const content = last.then(() => readOne(source))
      last = content.catch(() => undefined)
      return content
    },
    async [Symbol.asyncDispose]() {
      await thread?.worker.terminate()
    },
  }
}

function startThread(program: URL, maxHeapMb: number): Thread {
  const worker = new Worker(program, {
    name: 'mail reader',
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  worker.unref()
  // An exit follows each error.
  worker.on('error', () => undefined)
  return {
    worker,
    loaded: new Promise((resolve) => worker.once('message', () => resolve())),
    ended: new Promise((resolve) => worker.once('exit', () => resolve(undefined))),
  }
}

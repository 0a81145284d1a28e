import { Worker } from 'node:worker_threads'
import { type MessageContent, toUnread } from './read-email.ts'

/** Parses mails in a worker thread, so that a slow or large mail does not block the process. */
export interface MailReader extends AsyncDisposable {
  /** A mail that exceeds the limits is shown as its source text. */
  read(source: Buffer): Promise<MessageContent>
}

export interface MailReaderSettings {
  /** The time limit per mail. Parsing usually takes milliseconds. */
  readonly maxMs?: number
  readonly maxHeapMb?: number
  /** The program of the thread; tests replace it. */
  readonly program?: URL
}

interface Thread {
  readonly worker: Worker
  /** Resolves on the first message, which is sent when the program has loaded. */
  readonly loaded: Promise<void>
  /** Resolves with undefined when the thread exits, for any reason. */
  readonly ended: Promise<undefined>
}

export function createMailReader(settings: MailReaderSettings = {}): MailReader {
  const { maxMs = 10_000, maxHeapMb = 256 } = settings
  const program = settings.program ?? new URL('./mail-worker.ts', import.meta.url)
  let thread: Thread | undefined
  /** Mails are parsed one at a time, so that a slow mail does not use up the time limit of another. */
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
  // An exit event follows every error.
  worker.on('error', () => undefined)
  return {
    worker,
    loaded: new Promise((resolve) => worker.once('message', () => resolve())),
    ended: new Promise((resolve) => worker.once('exit', () => resolve(undefined))),
  }
}

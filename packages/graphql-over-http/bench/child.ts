import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export interface Child {
  /** Sends a message and waits for the answer. One at a time. */
  ask<Answer>(message: object | string): Promise<Answer>
  /** Waits for a message that comes unasked. */
  hear<Answer>(): Promise<Answer>
  stop(): void
}

interface ChildSettings {
  readonly execPath?: string
  readonly execArgv?: readonly string[]
  readonly silenceSeconds?: number
}

/** Starts a module of this folder in a process of its own. */
export function startChild(
  file: string,
  args: readonly string[],
  { execPath = process.execPath, execArgv = [], silenceSeconds = 60 }: ChildSettings = {},
): Child {
  const child = fork(join(import.meta.dirname, file), args, {
    execPath,
    execArgv: ['--disable-warning=ExperimentalWarning', ...execArgv],
    // As servers run for real: some of them check more in development.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const hear = <Answer>() => nextMessage<Answer>(child, [file, ...args].join(' '), silenceSeconds)
  return {
    ask(message) {
      child.send(message)
      return hear()
    },
    hear,
    stop: () => void child.kill(),
  }
}

async function nextMessage<Answer>(
  child: ChildProcess,
  name: string,
  silenceSeconds: number,
): Promise<Answer> {
  const done = new AbortController()
  const { signal } = done
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => {
        if (typeof message.failure === 'string') throw new Error(message.failure)
        return message as Answer
      }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`The process "${name}" ended with code ${code}; what it printed is above.`)
      }),
      wait(silenceSeconds * 1000, undefined, { signal }).then(() => {
        throw new Error(`The process "${name}" was silent for ${silenceSeconds} s.`)
      }),
    ])
  } finally {
    done.abort()
  }
}

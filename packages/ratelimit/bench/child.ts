import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export interface Child {
  /** Sends a message and waits for the answer. One at a time. */
  ask<Answer>(message: object | string): Promise<Answer>
  stop(): void
}

const silenceSeconds = 120

/** Starts a module of this folder in a process of its own; it ends with this one. */
export function startChild(file: string): Child {
  const child = fork(join(import.meta.dirname, file), [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  return { ask: (message) => ask(child, file, message), stop: () => void child.kill() }
}

export async function ask<Answer>(
  child: ChildProcess,
  name: string,
  message: object | string,
): Promise<Answer> {
  const done = new AbortController()
  const { signal } = done
  child.send(message)
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([answer]) => {
        if (typeof answer.failure === 'string') throw new Error(answer.failure)
        return answer as Answer
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

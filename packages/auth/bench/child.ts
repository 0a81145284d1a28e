import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Child extends Disposable {
  /** Sends a message and waits for the answer. One at a time. */
  ask<Answer>(message: object | string | number): Promise<Answer>
}

/** Starts a module of this folder in a process of its own; it ends with this one. */
export function startChild(file: string): Child {
  const child = fork(join(import.meta.dirname, file), [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  return {
    async ask<Answer>(message: object | string | number) {
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
            throw new Error(`The process "${file}" ended with code ${code}`)
          }),
        ])
      } finally {
        done.abort()
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

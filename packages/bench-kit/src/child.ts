import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface Child extends Disposable {
  /** Sends a message and waits for the reply. Only one message may be sent at a time. */
  request<Answer>(message: object | string | number): Promise<Answer>
  /** Waits for an unsolicited message. */
  receive<Answer>(): Promise<Answer>
}

export interface ChildSettings {
  readonly args?: readonly string[]
  readonly execPath?: string
  readonly execArgv?: readonly string[]
  /** Additional or overridden variables. */
  readonly env?: Readonly<Record<string, string>>
  /** The time limit for a reply. Default: no limit. */
  readonly replyTimeoutSeconds?: number
}

/** Starts a module in its own process; it exits with this process if it uses `answerParent`. */
export function startChild(module: URL, settings: ChildSettings = {}): Child {
  const {
    args = [],
    execPath = process.execPath,
    execArgv = [],
    env,
    replyTimeoutSeconds,
  } = settings
  const file = fileURLToPath(module)
  const child = fork(file, args, {
    execPath,
    execArgv: ['--disable-warning=ExperimentalWarning', ...execArgv],
    env: { ...process.env, ...env },
  })
  const name = [relative(process.cwd(), file), ...args].join(' ')
  return {
    request: (message) => requestFrom(child, name, message, replyTimeoutSeconds),
    receive: () => nextMessage(child, name, replyTimeoutSeconds),
    [Symbol.dispose]: () => void child.kill(),
  }
}

/** For a process that other code has started with a channel. */
export function requestFrom<Answer>(
  child: ChildProcess,
  name: string,
  message: object | string | number,
  replyTimeoutSeconds?: number,
): Promise<Answer> {
  child.send(message)
  return nextMessage(child, name, replyTimeoutSeconds)
}

async function nextMessage<Answer>(
  child: ChildProcess,
  name: string,
  replyTimeoutSeconds: number | undefined,
): Promise<Answer> {
  const done = new AbortController()
  const { signal } = done
  const ends = [
    once(child, 'message', { signal }).then(([message]) => {
      if (typeof message.failure === 'string') throw new Error(message.failure)
      return message as Answer
    }),
    once(child, 'exit', { signal }).then(([code]): never => {
      throw new Error(`The process "${name}" exited with code ${code}; its output is above.`)
    }),
  ]
  if (replyTimeoutSeconds !== undefined) {
    ends.push(
      wait(replyTimeoutSeconds * 1000, undefined, { signal }).then((): never => {
        throw new Error(`The process "${name}" did not reply within ${replyTimeoutSeconds} s.`)
      }),
    )
  }
  try {
    return await Promise.race(ends)
  } finally {
    done.abort()
  }
}

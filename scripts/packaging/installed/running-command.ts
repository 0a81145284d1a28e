import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { toCode } from '@portcullis/service-kit/text/reason'
import { CommandError } from '../run-command.ts'

export interface CommandToStart {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The output that shows that it is ready. */
  readonly ready: RegExp
}

/** A command that runs until it is stopped. */
export interface RunningCommand {
  /** The match in the output that showed that it is ready. */
  readonly match: RegExpExecArray
  readonly startSeconds: number
  /** Stops it like Ctrl-C in a terminal; rejects if that did not end it. */
  stop(): Promise<void>
}

// The first start of a database may take half a minute on a busy machine. The limits are for hangs.
const readyWithinMs = 300_000
const stopWithinMs = 60_000

export async function startCommand(settings: CommandToStart): Promise<RunningCommand> {
  const { command, cwd, env, ready } = settings
  const [file = '', ...args] = command
  const startMs = performance.now()
  // The command gets its own process group, as in a terminal, so that a signal reaches npx and its
  // child processes.
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch (error) {
      // No process of the group is left.
      if (toCode(error) !== 'ESRCH') throw error
    }
  }
  const killWithUs = () => signal('SIGKILL')
  process.once('exit', killWithUs)
  void exited.finally(() => process.off('exit', killWithUs)).catch(() => undefined)

  const matched = Promise.withResolvers<RegExpExecArray>()
  let output = ''
  const read = (text: string) => {
    output += text
    const match = ready.exec(output)
    if (match) matched.resolve(match)
  }
  child.stdout.setEncoding('utf8').on('data', read)
  child.stderr.setEncoding('utf8').on('data', read)
  const fail = (what: string) =>
    matched.reject(new CommandError(`${output.trim()}\n${args.join(' ')} ${what}`.trim()))
  child.once('error', (error) => fail(`could not be run: ${error.message}`))
  child.once('close', (code) => fail(`ended with ${code}`))
  const timer = setTimeout(() => fail('was not ready in time'), readyWithinMs)

  try {
    const match = await matched.promise
    const startSeconds = (performance.now() - startMs) / 1000
    return { match, startSeconds, stop }
  } catch (error) {
    signal('SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }

  async function stop(): Promise<void> {
    signal('SIGINT')
    const killTimer = setTimeout(() => signal('SIGKILL'), stopWithinMs)
    await exited
    clearTimeout(killTimer)
    const { exitCode, signalCode } = child
    // The shell in which npx runs commands is ended by the signal, whatever its command did.
    if (exitCode !== 0 && signalCode !== 'SIGINT') {
      throw new CommandError(
        `${output.trim()}\nAfter the stop, it ended with ${signalCode ?? exitCode}`,
      )
    }
  }
}

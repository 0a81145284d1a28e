import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CommandError } from '../run-command.ts'

export interface CommandToStart {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What its output has when it is ready. */
  readonly ready: RegExp
}

/** A command that runs until it is told to stop. */
export interface RunningCommand {
  /** What of its output said that it is ready. */
  readonly match: RegExpExecArray
  readonly startSeconds: number
  /** Tells it to stop, as Ctrl-C in a terminal does; rejects when it did not end by that. */
  stop(): Promise<void>
}

// Half a minute is what the first start of a database may take on a busy machine.
const readyWithinMs = 90_000
const stopWithinMs = 20_000

export async function startCommand(settings: CommandToStart): Promise<RunningCommand> {
  const { command, cwd, env, ready } = settings
  const [file = '', ...args] = command
  const startMs = performance.now()
  // A group of its own, as a terminal makes: a signal reaches npx and what it started.
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch (error) {
      // Nobody of the group is left.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
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
    const impatience = setTimeout(() => signal('SIGKILL'), stopWithinMs)
    await exited
    clearTimeout(impatience)
    const { exitCode, signalCode } = child
    // The shell in which npx runs commands dies of the signal, whatever its command made of it.
    if (exitCode !== 0 && signalCode !== 'SIGINT') {
      throw new CommandError(
        `${output.trim()}\nTold to stop, it ended with ${signalCode ?? exitCode}`,
      )
    }
  }
}

import { spawn } from '@lydell/node-pty'
import { MissingError } from './missing-error.ts'

/** A program that runs on its own pseudo-terminal. */
export interface Terminal {
  readonly ended: Promise<{ readonly code: number }>
  onOutput(listener: (text: string) => void): void
  /** Types the text; Ctrl-C is `\x03`. */
  write(text: string): void
  kill(): void
}

/** Not every container mounts /dev/pts, without which pseudo-terminals do not work. */
export class MissingTerminalError extends MissingError {
  override readonly name = 'MissingTerminalError'

  constructor(cause: unknown) {
    super('pseudo-terminals are not available. Enable them', {
      program: 'pseudo-terminals',
      installCommand: 'mount -t devpts devpts /dev/pts',
      cause,
    })
  }
}

/** Starts a program on a pseudo-terminal; throws a MissingTerminalError if the system has none. */
export function openTerminal(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const child = start(program, args, env)
  const ended = new Promise<{ code: number }>((resolve) => {
    // The exit code of a program that was ended by a signal is 0 here.
    child.onExit(({ exitCode, signal }) => resolve({ code: signal ? 128 + signal : exitCode }))
  })
  let isRunning = true
  void ended.then(() => {
    isRunning = false
  })
  return {
    ended,
    onOutput: (listener) => void child.onData(listener),
    write: (text) => child.write(text),
    kill: () => {
      if (isRunning) child.kill('SIGKILL')
    },
  }
}

function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
) {
  try {
    return spawn(program, [...args], { name: 'xterm-256color', cols: 200, rows: 50, env })
  } catch (error) {
    throw new MissingTerminalError(error)
  }
}

/**
 * Returns everything that a program prints on a terminal, whatever its exit code. A shell keeps the
 * terminal open until everything is read, because unread output may be lost when a terminal closes.
 */
export async function runOnTerminal(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const mark = '\x04end of output\x04'
  const script = `"$@"; printf '\\004end of output\\004'; read -r _`
  const terminal = openTerminal('/bin/sh', ['-c', script, 'sh', program, ...args], env)
  let output = ''
  await Promise.race([
    new Promise<void>((resolve) => {
      terminal.onOutput((text) => {
        output += text
        if (output.includes(mark)) resolve()
      })
    }),
    terminal.ended,
  ])
  terminal.kill()
  await terminal.ended
  const end = output.indexOf(mark)
  if (end === -1) throw new Error(`The terminal closed before the output ended:\n${output}`)
  return output.slice(0, end)
}

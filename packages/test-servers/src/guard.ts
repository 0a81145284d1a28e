import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'

/**
 * Ends processes and removes folders when the process that uses it has ended, whether normally, by a
 * signal or by `kill -9`. In all these cases the kernel closes the pipe to this shell, its `read`
 * fails, and it cleans up. A normal close takes the same path, so every test exercises the cleanup.
 *
 * A process is written as `GROUP:SIGNAL`: its process group, and the signal for a graceful end.
 */
const script = `
processes=''
frozen=''
while read -r what value; do
  case $what in
    folder) set -- "$@" "$value" ;;
    started) processes="$processes $value" ;;
    frozen) frozen="$frozen $value" ;;
    ended)
      rest=''
      for one in $processes; do [ "$one" = "$value" ] || rest="$rest $one"; done
      processes=$rest ;;
  esac
done
ending() {
  for one in $processes; do
    case $one in *:KILL) ;; *) kill -s 0 -- "-\${one%%:*}" && return 0 ;; esac
  done
  return 1
}
for one in $processes; do
  kill -s "\${one##*:}" -- "-\${one%%:*}"
  kill -s CONT -- "-\${one%%:*}"
done
for one in $frozen; do kill -s CONT -- "$one"; done
tries=0
while ending && [ $tries -lt 40 ]; do sleep 0.05; tries=$((tries + 1)); done
for one in $processes; do kill -s KILL -- "-\${one%%:*}"; done
tries=0
until rm -rf -- "$@" || [ $tries -ge 20 ]; do sleep 0.05; tries=$((tries + 1)); done
`

export interface Guard extends AsyncDisposable {
  addFolder(folder: string): void
  addProcess(pid: number, stopSignal: NodeJS.Signals): void
  forgetProcess(pid: number, stopSignal: NodeJS.Signals): void
  /** A process that cannot end before it is resumed, and that is in none of the groups. */
  addFrozen(pid: number): void
}

export async function openGuard(): Promise<Guard> {
  // In its own session, so that Ctrl-C in a terminal does not end the shell that cleans up.
  const shell = spawn('/bin/sh', ['-c', script, 'guard'], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await once(shell, 'spawn')
  // A test that forgets to close the guard must still end.
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  shell.stdin.on('error', () => {})

  const send = (line: string) => void shell.stdin.write(`${line}\n`)
  const nameOf = (pid: number, signal: NodeJS.Signals) => `${pid}:${signal.slice('SIG'.length)}`
  return {
    addFolder: (folder) => send(`folder ${folder}`),
    addProcess: (pid, signal) => send(`started ${nameOf(pid, signal)}`),
    forgetProcess: (pid, signal) => send(`ended ${nameOf(pid, signal)}`),
    addFrozen: (pid) => send(`frozen ${pid}`),
    async [Symbol.asyncDispose]() {
      if (shell.exitCode !== null || shell.signalCode !== null) return
      shell.ref()
      const ended = once(shell, 'exit')
      shell.stdin.end()
      await ended
    },
  }
}

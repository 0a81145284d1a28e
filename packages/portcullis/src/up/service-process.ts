import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PartStartError, type RunningPart } from './part.ts'

export interface ServiceSettings {
  /** The package whose command it is. */
  readonly packageName: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Tells the line of its log that says it serves. */
  readonly isReady: (line: string) => boolean
}

/** Runs a server of ours in a process of its own, which ends when we do. */
export async function startService(settings: ServiceSettings): Promise<RunningPart> {
  const child = spawn(process.execPath, [findProgram(settings.packageName), ...settings.args], {
    env: { ...process.env, ...settings.env },
    // A process group of its own: Ctrl-C is ours to pass on.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  // In an orderly way, also when we go in another one: what it has started ends with it.
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  void exited.then(() => process.off('exit', endWithUs))

  const ready = Promise.withResolvers<void>()
  const complaints: string[] = []
  let isReady = false
  let isStopping = false
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    if (!isReady && settings.isReady(line)) {
      isReady = true
      ready.resolve()
    } else if (!isNews(line)) {
      if (!isReady) complaints.push(line)
      else if (!isStopping) process.stderr.write(`${line}\n`)
    }
  })
  lines.once('close', () => ready.reject(new PartStartError(toComplaint(complaints))))
  await ready.promise
  return {
    async stop() {
      isStopping = true
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
      await exited
    },
  }
}

/** The file behind the package's command: a source in the repository, compiled in a published one. */
function findProgram(packageName: string): string {
  const manifestUrl = import.meta.resolve(`${packageName}/package.json`)
  const { bin }: { bin: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(fileURLToPath(manifestUrl), 'utf8'),
  )
  const [program] = Object.values(bin)
  if (program === undefined) throw new Error(`${packageName} has no command`)
  return fileURLToPath(new URL(program, manifestUrl))
}

function isNews(line: string): boolean {
  return /"level":"(?:info|debug|trace)"|level=(?:info|debug|warning)/.test(line)
}

/** The last words of the log, without what is around them; all of it where they are no log. */
function toComplaint(lines: readonly string[]): string {
  const fatal = lines.findLast((line) => line.includes('"level":"fatal"'))
  return fatal === undefined ? lines.join('\n') : JSON.parse(fatal)['@message']
}

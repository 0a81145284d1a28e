import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { openTerminal } from '@portcullis/test-servers'
import type { BareSystem } from './bare-system.ts'
import { toCommand } from './process.ts'
import { listInside } from './processes-inside.ts'

/** Tests a command in a system, and writes its output to the log; rejects if it fails. */
type Proof = (system: BareSystem, logFile: string) => Promise<void>

/**
 * `npm start` on a terminal: everything starts, the console responds, and Ctrl-C ends everything.
 */
const proveStart: Proof = async (system, logFile) => {
  const { program, args, env } = toCommand(system, ['TERM=xterm', 'npm', 'start'])
  const log = createWriteStream(logFile)
  const terminal = openTerminal(program, args, env)
  let output = ''
  const consoleUrl = new Promise<string>((resolve) => {
    terminal.onOutput((text) => {
      log.write(text)
      output += stripVTControlCharacters(text)
      const [, url] = /Console\s+(http:\/\/\S+).*Press Ctrl-C to stop/s.exec(output) ?? []
      if (url !== undefined) resolve(url)
    })
  })
  const early = terminal.ended.then(({ code }) => {
    throw new Error(`npm start ended with code ${code}:\n${toEnd(output)}`)
  })
  // After Ctrl-C its end is not a failure, and nothing waits for it.
  early.catch(() => {})
  try {
    await openConsole(await Promise.race([consoleUrl, early]))
    const ctrlC = '\x03'
    terminal.write(ctrlC)
    const { code } = await terminal.ended
    // npm and its shell receive the Ctrl-C as well, and end with the code of a signal.
    if ((code !== 0 && code !== 130) || !output.trimEnd().endsWith('Stopped.')) {
      throw new Error(`npm start ended with code ${code} after Ctrl-C:\n${toEnd(output)}`)
    }
    await waitUntilEmpty(system)
  } finally {
    terminal.kill()
    log.end()
  }
}

/**
 * Opens the console like a browser: it redirects to its first page and replaces the token by a cookie.
 */
async function openConsole(url: string): Promise<void> {
  const signIn = await fetch(url, { redirect: 'manual' })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await fetch(new URL(signIn.headers.get('location') ?? '/', url), {
    headers: { cookie },
  })
  const text = await page.text()
  if (page.status !== 200 || !text.includes('<title>')) {
    throw new Error(`The console responded with ${page.status}:\n${toEnd(text)}`)
  }
}

async function waitUntilEmpty({ folder }: BareSystem): Promise<void> {
  const deadline = performance.now() + 60_000
  while (listInside(folder).length > 0) {
    if (performance.now() > deadline) {
      const left = listInside(folder).map(({ pid, command }) => `${pid} ${command}`)
      throw new Error(`npm start left processes behind:\n${left.join('\n')}`)
    }
    await sleep(50)
  }
}

const proveTest: Proof = async (system, logFile) => {
  const { program, args, env } = toCommand(system, ['npm', 'test'])
  const log = createWriteStream(logFile)
  await once(log, 'open')
  const child = spawn(program, args, { env, stdio: ['ignore', log, log] })
  const [code] = await once(child, 'close')
  log.end()
  const output = stripVTControlCharacters(readFileSync(logFile, 'utf8'))
  if (code !== 0) throw new Error(`npm test ended with code ${code}:\n${toEnd(output)}`)
  console.log(toEnd(output, 8))
}

export type CommandName = 'start' | 'test'

export const proofs: Readonly<Record<CommandName, Proof>> = { start: proveStart, test: proveTest }

function toEnd(text: string, lineCount = 30): string {
  return text.trim().split('\n').slice(-lineCount).join('\n')
}

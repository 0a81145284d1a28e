import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dispatch, type Program } from '@portcullis/service-kit/cli/dispatch'
import { commands as authCommands } from '../../auth/src/commands/index.ts'
import { commands as ratelimitCommands } from '../../ratelimit/src/commands/index.ts'
import { otherPrograms } from '../src/commands/hand-over.ts'
import { createCommands } from '../src/commands/index.ts'

const version = '1.2.3'

const programs: Readonly<Record<string, Program['commands']>> = {
  portcullis: createCommands(version),
  auth: authCommands(version),
  ratelimit: ratelimitCommands,
}

/** Commands whose help shows lines for configuration files, which contain the name of the program itself. */
const forFiles = ['completion']

for (const [name, commands] of Object.entries(programs)) {
  const toCall = (command: string) => `npm run it -- ${command}`

  async function readHelp(...args: string[]): Promise<string> {
    let printed = ''
    const stdout = { write: (text: string) => (printed += text) }
    const io = { stdout, stderr: stdout, env: {}, isTerminal: false }
    assert.equal(await dispatch({ name, version, summary: '', commands, toCall }, args, io), 0)
    return printed
  }

  // portcullis does not print the help of commands of other packages.
  const own = Object.keys(commands).filter(
    (command) => name !== 'portcullis' || !(command in otherPrograms),
  )
  for (const args of [[], ...own.map((command) => [command])]) {
    test(`the help of ${[name, ...args].join(' ')} names commands as they were typed`, async () => {
      const help = await readHelp(...args, '--help')
      const [command = 'COMMAND'] = args
      assert.ok(help.startsWith(`Usage: ${toCall(command)} `), help.slice(0, 80))
      if (forFiles.includes(command)) return
      const others = new RegExp(`(?<![\\w@/.-])${name} (?:${Object.keys(commands).join('|')})\\b.*`)
      assert.equal(others.exec(help)?.[0], undefined)
    })
  }

  for (const command of own) {
    test(`${name} ${command} reports an unknown option and refers to its help`, async () => {
      let printed = ''
      const stderr = { write: (text: string) => (printed += text) }
      const io = { stdout: process.stdout, stderr, env: {}, isTerminal: false }
      const program = { name, version, summary: '', commands, toCall }
      assert.equal(await dispatch(program, [command, '--nope'], io), 2)
      assert.ok(printed.startsWith('Unknown option --nope.\n'), printed)
      assert.ok(printed.endsWith(`\nSee: ${toCall(command)} --help\n`), printed)
    })
  }
}

test('the help of the audit names the package if npx has downloaded it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-help-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '_npx'))
  const program = join(folder, '_npx/graphql-over-http.ts')
  symlinkSync(join(import.meta.dirname, '../../graphql-over-http/src/cli/main.ts'), program)
  const env = { ...process.env, npm_lifecycle_event: 'npx' }
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--help'], { env })
  assert.match(stdout, /^Usage: npx @portcullis\/graphql-over-http audit URL /)
})

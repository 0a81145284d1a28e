import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { withCurlOnPath } from '@portcullis/test-servers'
import { createCommands } from '../src/commands/index.ts'
import { listenerNames, listeners, toFlag } from '../src/up/ports.ts'
import { createAccessEnvironment } from './support/access-data.ts'
import { apiBlock, createRunner, readCommands } from './support/manual.ts'
import { createBaseUrls, openWorld, type TestWorld } from './support/world.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/start.md'), 'utf8')

interface Step {
  readonly command: string
  /** The output shown on the page; `…` matches any text. */
  readonly output: string | undefined
}

/** Reads all commands of the page in order. */
function readSteps(): Step[] {
  const blocks = page.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)
  return [...blocks].map(([, command = '', output]) => ({ command, output }))
}

/** Adapts a command to the ports and the folder of the test. */
function toLocal(command: string, { folder }: TestWorld): string {
  const toBaseUrl = createBaseUrls(folder)
  const ports = new Map(
    listenerNames.map((name) => [`${listeners[name].port}`, new URL(toBaseUrl(name)).port]),
  )
  return command
    .replaceAll(/localhost:(\d+)/g, (_all, port: string) => `localhost:${ports.get(port)}`)
    .replaceAll(/(?:\.\/)?\.portcullis\//g, `${folder}/`)
}

function toPattern(output: string): RegExp {
  const escaped = output
    .trim()
    .split('…')
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('[^]*')}$`)
}

/** All commands run in one shell, because later commands use variables of earlier ones. */
async function runInOneShell(commands: readonly string[]): Promise<string[]> {
  const end = '--- end of step ---'
  const script = commands.map((command) => `${command}\necho; echo '${end}'\n`).join('')
  const { stdout } = await run('bash', ['-c', script], {
    cwd: root,
    // Ends commands that hang, before the limit of the test process.
    timeout: 500_000,
    env: {
      ...process.env,
      NO_COLOR: '1',
      PATH: [dirname(process.execPath), await withCurlOnPath()].join(delimiter),
    },
  }).catch(({ stdout, stderr }) => {
    throw new Error(`The shell failed:\n${stdout}${stderr}`)
  })
  return stdout.split(end).map((text) => text.trim().replaceAll('\r', ''))
}

test('the start page begins with npm start', () => {
  assert.equal(readSteps()[0]?.command, 'npm start\n')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.match(scripts.start, / packages\/portcullis\/src\/main\.ts up$/)
})

describe('with portcullis up', () => {
  let world: TestWorld

  before(async () => {
    // The other settings are those of `up`, as the manual says.
    const { AUTH_OAUTH_SERVER_ENABLED: _, ...environment } = createAccessEnvironment()
    world = await openWorld([], environment)
  })
  after(() => world[Symbol.asyncDispose]())

  test('every command of the start page prints the documented output', async () => {
    const [, ...steps] = readSteps()
    assert.ok(steps.length >= 10)
    const outputs = await runInOneShell(steps.map(({ command }) => toLocal(command, world)))
    for (const [index, { command, output }] of steps.entries()) {
      if (output === undefined) assert.equal(outputs[index], '', command)
      else assert.match(outputs[index] ?? '', toPattern(output), command)
    }
  })

  test('a program reads messages as the manual shows', async (t) => {
    const send = await createRunner(t, world)
    await send(['mail', 'test', 'ada@example.com'])
    const [token = '', list = '', message = ''] = toLocal(apiBlock, world).split('\n')
    const [, listed = ''] = await runInOneShell([token, list])
    const { messages } = JSON.parse(listed)
    const [, read = ''] = await runInOneShell([
      token,
      message.replace('/ID?', `/${messages[0].id}?`),
    ])
    const { subject } = JSON.parse(read)
    assert.equal(subject, 'Confirm Your Signup')
  })

  test('every command of the manual succeeds', async (t) => {
    const run = await createRunner(t, world)
    const printed = new Map<string, string>()
    for (const words of readCommands()) printed.set(words.join(' '), await run(words))
    const names = new Set([...printed.keys()].map((words) => words.split(' ')[0]))
    assert.deepEqual([...names].toSorted(), [
      ...['clients', 'completion', 'console', 'events', 'keys', 'limits', 'mail', 'providers'],
      ...['sso', 'token', 'users'],
    ])
    const silent = [...printed].filter(([, output]) => output === '').map(([words]) => words)
    assert.deepEqual(silent, [])
  })
})

test('the manual lists every option of up and console, and every port', async () => {
  const manual = readFileSync(join(root, 'docs/portcullis.md'), 'utf8')
  const { up, console: consoleCommand } = createCommands('1.2.3')
  const commands = await Promise.all([up?.(), consoleCommand?.()])
  for (const { flags } of commands.flatMap((command) => command?.completion.options ?? [])) {
    const [flag] = flags
    assert.match(manual, new RegExp(`\\| \`${flag}[ \`]`), flag)
  }
  for (const name of listenerNames) {
    assert.ok(manual.includes(`| ${listeners[name].port} | \`--${toFlag(name)}\` |`), name)
  }
})

test('the links of both pages are valid', () => {
  for (const name of ['start.md', 'portcullis.md']) {
    const text = readFileSync(join(root, 'docs', name), 'utf8')
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)]
    assert.ok(links.length > 3)
    for (const [link, path = '', heading] of links) {
      const target = readFileSync(join(root, 'docs', path), 'utf8')
      if (heading === undefined) continue
      const headings = [...target.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => toAnchor(title))
      assert.ok(headings.includes(heading), link)
    }
  }
})

/** Converts a heading to an anchor like GitHub. */
function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

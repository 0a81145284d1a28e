import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseConsoleArguments } from '../../src/commands/console-arguments.ts'
import { createCommands } from '../../src/commands/index.ts'
import { keyVariable } from '../../src/commands/server-arguments.ts'
import { createAdminKeys, findSecrets } from '../../src/up/secrets.ts'
import { grantAccess } from '../console/users-database.ts'
import { createSamlMetadata, openIssuer } from './access-data.ts'
import { runPortcullis } from './launch-up.ts'
import { noServer, runCommand } from './run-command.ts'
import type { TestWorld } from './world.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/portcullis.md'), 'utf8')

const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)

/** The block of the manual that uses the API of the console with curl. */
export const apiBlock = blocks.find((text) => text.includes('curl')) ?? ''

/** Returns the commands in the `sh` blocks of the manual as lists of words, without `portcullis`. */
export function readCommands(): string[][] {
  const lines = blocks.join('').replaceAll('\\\n', ' ')
  const calls = lines.matchAll(/(?<![\w.-])portcullis ([^\n|#)>]+)/g)
  return [...calls].map(([, words = '']) => words.trim().split(/ +/))
}

/** These verbs ask for confirmation, or do not end, without the option. */
const testOptions: Readonly<Record<string, string>> = {
  delete: '--yes',
  revoke: '--yes',
  'reset-factors': '--yes',
  'revoke-grant': '--yes',
  tail: '--no-follow',
}

/** Creates a function that runs a command of the manual with the servers of a test, and returns its output. */
export async function createRunner(
  t: TestContext,
  { folder, baseUrls }: TestWorld,
): Promise<(words: readonly string[]) => Promise<string>> {
  const loadCommands = createCommands('1.2.3')
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const places: Readonly<Record<string, string>> = {
    FILE: write('secret', 'the secret of the provider\n'),
    'https://acme.example': await openIssuer(t),
    // Metadata is only fetched with TLS.
    '--metadata-url': '--metadata-file',
    'https://company.okta.com/app/ID/sso/saml/metadata': write(
      'metadata.xml',
      createSamlMetadata('https://company.example'),
    ),
    'users.jsonl': join(folder, 'users.jsonl'),
  }
  const authorization = `Bearer ${await createAdminKeys(findSecrets(folder)?.jwtSecret ?? '')()}`

  async function post(path: string, body: object) {
    const answer = await fetch(`${baseUrls.auth}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const created: Readonly<Record<string, unknown>> = await answer.json()
    return created
  }

  /** Creates the user of a command again if an earlier one has deleted the user. @returns the words for this test. */
  async function prepare(words: readonly string[]): Promise<string[]> {
    const own = words.map((word) => places[word] ?? word)
    const email = words.find((word) => word.includes('@'))
    if (email !== undefined) await post('/admin/users', { email, email_confirm: true })
    const verb = words[1]
    if (verb !== 'grants' && verb !== 'revoke-grant') return own
    const { id: userId } = JSON.parse(await run('users', ['show', `${email}`, '--json']))
    const client = { client_name: 'Photos', redirect_uris: ['https://photos.example/callback'] }
    const { client_id: clientId } = await post('/admin/oauth/clients', client)
    await grantAccess({ folder }, userId, `${clientId}`)
    return verb === 'grants' ? own : own.with(-1, `${clientId}`)
  }

  async function run(name: string, args: readonly string[]): Promise<string> {
    const all = [...args, ...(name === 'completion' ? [] : ['--data', folder])]
    const command = await loadCommands[name]?.()
    assert.ok(command, `portcullis has no command ${name}`)
    // These verbs hand over to the program of the auth server, which ends its process.
    const isOther = args[0] === 'export' || args[0] === 'import'
    const { code, stdout, stderr } = isOther
      ? await runPortcullis([name, ...all], { env: noServer })
      : await runCommand(command, all)
    assert.equal(code, 0, `portcullis ${name} ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  return async (words) => {
    const [name = '', ...args] = await prepare(words)
    const option = testOptions[args[0] ?? ''] ?? ''
    const isNeeded = option !== '' && !args.includes(option)
    if (name !== 'console') return await run(name, isNeeded ? [...args, option] : args)
    const parsed = parseConsoleArguments(args, { [keyVariable]: 'key' })
    assert.ok(!('faults' in parsed), JSON.stringify(parsed))
    return JSON.stringify(parsed)
  }
}

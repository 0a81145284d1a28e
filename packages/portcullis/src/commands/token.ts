import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import {
  parseOrExplain,
  toArgumentError,
  toValueFault,
} from '@portcullis/service-kit/cli/argument-faults'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import { toReason } from '@portcullis/service-kit/text/reason'
import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { type OptionTable, toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import { UpRefusal } from '../up/errors.ts'
import { mintToken, type TokenRequest } from '../up/mint-token.ts'
import { dataMeaning, findDataFolder, folderAdvice } from './find-data-folder.ts'

/** Programs that verify tokens and API keys need the role `token_verifier`. */
const roles = ['service_role', 'authenticated', 'anon', 'token_verifier'] as const

const secretVariables = ['AUTH_JWT_SECRET', 'GOTRUE_JWT_SECRET'] as const

const tokenOptions = {
  role: {
    value: 'ROLE',
    meaning: 'role of the token: service_role, authenticated, anon or token_verifier',
    kind: { choices: roles },
  },
  expires: { value: 'DURATION', meaning: 'lifetime, such as 15m or 24h; default: 1h' },
  subject: { value: 'ID', meaning: 'id of the user; required for the role authenticated' },
  aud: { value: 'AUDIENCE', meaning: 'audience; default: authenticated' },
  'secret-file': {
    value: 'FILE',
    meaning: 'file with the JWT secret of the server; - reads it from standard input',
    kind: 'file',
  },
  data: {
    value: 'DIR',
    meaning: dataMeaning,
    kind: 'directory',
  },
  json: { meaning: 'print the token and its claims as JSON' },
} as const satisfies OptionTable

const usage = `Usage: portcullis token --role ROLE [OPTION…]

Signs a token for the auth server and for APIs that accept its tokens. A token
with the role service_role is a service key: it gives access to the admin
endpoints. The role token_verifier is for programs that verify access tokens and
API keys: it can only read revocations and verify keys.

The JWT secret is read from --secret-file, from the environment variable
${secretVariables[0]}, or from the data folder of portcullis up, in this order. The
server must accept tokens that are signed with its secret (HS256).

Options:
${toHelpLines(tokenOptions)}

Exit codes: 0 on success, 1 if the secret cannot be read, 2 for invalid
arguments.
`

export const token: CompletableCommand = {
  summary: 'sign a service key or another token',
  usage,
  completion: { options: toCommandOptions(tokenOptions) },
  async run(args, io) {
    const parsed = parseToken(args)
    if ('faults' in parsed) {
      io.stderr.write(toArgumentError('portcullis token', ...parsed.faults))
      return 2
    }
    const found = await findSecret(parsed, io)
    if ('failure' in found) {
      io.stderr.write(`${found.failure}\n`)
      return 1
    }
    if (found.note !== undefined) io.stderr.write(`${found.note}\n`)
    const { role, audience, subject, expiresInSeconds } = parsed
    const expiresAt = new Date(Date.now() + expiresInSeconds * 1000).toISOString()
    const signed = await mintToken(found.secret, parsed)
    if (parsed.isJson) {
      const claims = { role, audience, ...(subject !== undefined && { subject }) }
      io.stdout.write(`${JSON.stringify({ token: signed, ...claims, expires_at: expiresAt })}\n`)
      return 0
    }
    if (io.isTerminal) io.stderr.write(`A token with the role ${role}, valid until ${expiresAt}:\n`)
    io.stdout.write(`${signed}\n`)
    return 0
  },
}

interface TokenArguments extends TokenRequest {
  readonly secretFile: string | undefined
  readonly data: string | undefined
  readonly isJson: boolean
}

const longestSeconds = 10 * 365 * 24 * 3600

function parseToken(
  args: readonly string[],
): TokenArguments | { readonly faults: readonly string[] } {
  const values = parseOrExplain(() => parse(args).values)
  if (typeof values === 'string') return { faults: [values] }
  const { role, expires, subject, aud: audience } = values
  const faults: string[] = []
  const expiresInSeconds = Math.floor((parseDuration(expires) ?? 0) / 1000)
  if (role === undefined) faults.push(`--role is missing. Roles: ${roles.join(', ')}.`)
  else if (!(roles as readonly string[]).includes(role)) {
    const question = toQuestion(role, roles)
    faults.push(`Unknown role ${JSON.stringify(role)}. Roles: ${roles.join(', ')}.${question}`)
  }
  if (expiresInSeconds < 1 || expiresInSeconds > longestSeconds) {
    faults.push(toValueFault('--expires', 'a duration from 1s to 87600h, such as 1h', expires))
  }
  if (role === 'authenticated' && !subject) {
    faults.push('The role authenticated needs --subject with the id of a user.')
  }
  if (values['secret-file'] !== undefined && values.data !== undefined) {
    faults.push('Pass either --secret-file or --data, not both.')
  }
  if (faults.length > 0) return { faults }
  return {
    role: role ?? '',
    audience,
    subject,
    expiresInSeconds,
    secretFile: values['secret-file'],
    data: values.data,
    isJson: values.json === true,
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      role: { type: 'string' },
      expires: { type: 'string', default: '1h' },
      subject: { type: 'string' },
      aud: { type: 'string', default: 'authenticated' },
      'secret-file': { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean' },
    },
  })
}

interface FoundSecret {
  readonly secret: string
  readonly note?: string
}

type SecretResult = FoundSecret | { readonly failure: string }

/** A secret is never an argument, because other users of the machine can read command lines. */
async function findSecret(
  { secretFile, data }: TokenArguments,
  { env }: CommandIo,
): Promise<SecretResult> {
  if (secretFile !== undefined) return await readSecretFile(secretFile)
  const name = secretVariables.find((each) => env[each])
  if (data === undefined && name !== undefined) return toSecret(env[name] ?? '', name)
  try {
    const folder = findDataFolder(data)
    if (folder === undefined) return { failure: noSecret }
    const note = `Using the secret of portcullis up (${folder.path}).`
    return { secret: folder.secrets.jwtSecret, note }
  } catch (error) {
    if (error instanceof UpRefusal) return { failure: error.message }
    throw error
  }
}

const noSecret = `The JWT secret is missing. ${folderAdvice}
For another server, set ${secretVariables[0]} or pass --secret-file FILE.`

async function readSecretFile(path: string): Promise<SecretResult> {
  try {
    const content = path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')
    // Files often end in a line break, which is not part of the secret.
    return toSecret(content.replace(/\r?\n$/, ''), path === '-' ? 'Standard input' : path)
  } catch (error) {
    return { failure: `--secret-file ${path} cannot be read: ${toReason(error)}.` }
  }
}

function toSecret(secret: string, origin: string): SecretResult {
  if (secret === '') return { failure: `${origin} contains no secret.` }
  if (Buffer.byteLength(secret) >= 32) return { secret }
  const note = `Warning: the secret is shorter than 32 bytes, so it can be found by brute force.`
  return { secret, note }
}

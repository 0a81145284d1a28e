import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseChoice, parseCount, parseOptions } from '@portcullis/bench-kit/options'
import {
  readCpuTimes,
  readResidentMegabytes,
  toCpuSeconds,
} from '@portcullis/bench-kit/process-usage'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { formatTable, left, right } from '@portcullis/bench-kit/table'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { fillSource } from '../../test/support/supabase-source/fill-source.ts'
import { createSourceSchema } from '../../test/support/supabase-source/schema.ts'
import { writeResult } from '../results.ts'
import { databaseServerNames, openDatabaseServer } from '../servers/database-server.ts'
import { toEnvironment } from '../servers/environment.ts'
import { ourProgram } from '../servers/server-process.ts'

const help = `Usage: npm run bench -- auth-import [OPTION…]

Imports users of Supabase Auth from one schema into another of the same
PostgreSQL, then imports again with --since. Each user has an identity, a
session and two stored refresh tokens. Reports the time, the CPU time and the
memory of the import.

Options:
  --users N        users to import; default: 1000000
  --postgres NAME  PostgreSQL to start: ${databaseServerNames.join(', ')}; default: embedded
  --write          write the result to packages/auth/bench/results
  --help           show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  users: { type: 'string', default: '1000000' },
  postgres: { type: 'string', default: 'embedded' },
  write: { type: 'boolean', default: false },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    users: parseCount('users', values.users),
    postgres: parseChoice('postgres', values.postgres, databaseServerNames),
    isWritten: values.write,
  }
}

type Settings = ReturnType<typeof parseSettings>

/** Resolves to the exit code. */
export const run = createCommand({ name: 'auth-import', help, parse: parseSettings, run: measure })

async function measure({ users, postgres, isWritten }: Settings): Promise<number> {
  endOnSignals()
  await using database = await openDatabaseServer(postgres)
  const databaseUrl = await database.createDatabase('import')
  await fill(databaseUrl, users)
  await migrate({ url: databaseUrl, schema: 'auth' })
  const runImport = (...args: readonly string[]) => measureImport(databaseUrl, database.pid, args)
  const first = await runImport()
  const again = await runImport('--since', first.report.snapshotAt)
  const runs = [
    { name: 'first import', ...first },
    { name: 'again, with --since', ...again },
  ]
  console.log(
    formatTable(
      [
        left('run'),
        right('seconds'),
        right('CPU s, import'),
        right('CPU s, PostgreSQL'),
        right('MB'),
      ],
      runs.map(({ name, seconds, importCpu, postgresCpu, megabytes }) => [
        name,
        ...[seconds, importCpu, postgresCpu, megabytes].map((value) => value.toFixed(1)),
      ]),
    ),
  )
  if (!isWritten) return 0
  const machine = { ...describeMachine(), postgres: database.version }
  const results = runs.map(({ report: _, ...result }) => result)
  console.log(`Written: ${await writeResult('auth-import.json', { machine, users, results })}`)
  return 0
}

async function fill(databaseUrl: string, users: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await createSourceSchema(client, sourceSchema, '2.196')
    await client.query(fillSource(users))
  } finally {
    await client.end()
  }
}

const sourceSchema = 'supabase_auth'
const sampleMs = 200

/** Runs the command, and measures it and PostgreSQL. */
async function measureImport(databaseUrl: string, postgresPid: number, args: readonly string[]) {
  const url = new URL(databaseUrl)
  url.searchParams.set('schema', sourceSchema)
  const before = await readCpuTimes(postgresPid)
  const { file, args: programArgs } = ourProgram
  const child = spawn(file, [...programArgs, 'import', '--from', url.href, '--json', ...args], {
    env: { ...process.env, ...toEnvironment({ databaseUrl, port: 9999 }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const closed = once(child, 'close')
  let megabytes = 0
  let importCpu = 0
  let postgresCpu = 0
  while (child.exitCode === null && child.pid !== undefined) {
    const sample = await readSample(child.pid, postgresPid).catch(() => undefined)
    if (sample !== undefined) {
      megabytes = Math.max(megabytes, sample.megabytes)
      importCpu = toCpuSeconds(new Map(), sample.own)
      // The processes of the connections end before the import does.
      postgresCpu = Math.max(postgresCpu, toCpuSeconds(before, sample.database))
    }
    await wait(sampleMs)
  }
  await closed
  if (child.exitCode !== 0) throw new Error(`The import failed: ${output}`)
  const report = JSON.parse(output) as { readonly seconds: number; readonly snapshotAt: string }
  return { report, seconds: report.seconds, importCpu, postgresCpu, megabytes }
}

async function readSample(pid: number, postgresPid: number) {
  return {
    megabytes: await readResidentMegabytes(pid),
    own: await readCpuTimes(pid),
    database: await readCpuTimes(postgresPid),
  }
}

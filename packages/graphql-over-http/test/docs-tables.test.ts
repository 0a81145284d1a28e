import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { createHandler, type HandlerOptions } from '@portcullis/graphql-over-http/use/fetch'
import { build } from 'esbuild'
import { buildSchema, execute, getOperationAST, parse, specifiedRules, validate } from 'graphql'
import { HELP } from '../src/cli/args.ts'
import { type DocTable, readBlocks, readNames, readTables } from './support/doc-blocks.ts'
import { root } from './support/program.ts'

// Compares the tables of the manual with the behaviour of the code.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const manual = read('docs/graphql.md')
const migration = read('docs/graphql-migration.md')

function findTable(page: string, heading: string, firstColumn: string): DocTable {
  const table = readTables(page).find(
    ({ heading: found, columns }) => found === heading && columns[0] === firstColumn,
  )
  assert.ok(table, `Table not found: ${heading}, ${firstColumn}`)
  return table
}

const firstNames = ({ rows }: DocTable) => rows.flatMap(([cell = '']) => readNames(cell)).sort()

/** The properties of an interface, read from its source, since types do not exist at run time. */
function readProperties(path: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}\\b[^]*?\\n}`).exec(read(path))?.[0] ?? ''
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(
    ([, property = '']) => property,
  )
}

const source = 'packages/graphql-over-http/src'

test('the table of handler options is complete', () => {
  const options = [
    ...readProperties(`${source}/options.ts`, 'HandlerOptions'),
    ...readProperties(`${source}/adapters/shared/adapter-options.ts`, 'AdapterOptions'),
  ]
  assert.ok(options.includes('schema') && options.includes('vary'))
  const table = findTable(manual, 'Options of createHandler', 'option')
  assert.deepEqual(firstNames(table), options.sort())
})

test('the table of client options is complete', () => {
  const options = readProperties(`${source}/client-options.ts`, 'ClientOptions')
  assert.ok(options.includes('url'))
  assert.deepEqual(firstNames(findTable(manual, 'Client', 'option')), options.sort())
})

test('the table of command options is complete', () => {
  const flags = [...HELP.matchAll(/^ {2}(--[\w-]+(?: [A-Z][:A-Z]*)?)/gm)].map(
    ([, flag = '']) => flag,
  )
  assert.ok(flags.includes('--json'))
  assert.deepEqual(firstNames(findTable(manual, 'Audits', 'option')), flags.sort())
})

test('the hooks run in the order of the drawing', async () => {
  const drawing = readBlocks(manual).find(({ role }) => role === 'hooks')?.code ?? ''
  const drawn = [...drawing.matchAll(/^[ \d]{4}([a-z]\w+)\b/gim)].map(([, name = '']) => name)
  const called: string[] = []
  const note = <Args extends readonly unknown[], Result>(
    name: string,
    hook: (...args: Args) => Result,
  ) => {
    return (...args: Args): Result => {
      called.push(name)
      return hook(...args)
    }
  }
  const schema = buildSchema('type Query { hello: String! }')
  const handler = createHandler({
    formatError: note('formatError', (error) => error),
    onOperation: note('onOperation', () => undefined),
    execute: note('execute', execute),
    getOperationAST: note('getOperationAST', getOperationAST),
    validate: note('validate', validate),
    validationRules: note('validationRules', () => specifiedRules),
    schema: note('schema', () => schema),
    context: note('context', () => undefined),
    parse: note('parse', (text: string) => parse(text)),
    onSubscribe: note('onSubscribe', () => undefined),
    parseRequestParams: note('parseRequestParams', () => undefined),
  })
  await handler(new Request('http://localhost/graphql?query={hello}'))
  assert.deepEqual(drawn, called)
})

const schema = buildSchema(`
  type Query { hello(n: Int): String, fails: String, fatal: String! }
  type Mutation { change: String }
  type Subscription { events: String }
`)
const fail = () => {
  throw new Error('no')
}
const rootValue = { hello: 'world', fails: fail, fatal: fail }

const J = 'application/json'
const GR = 'application/graphql-response+json'
const get = (query: string, accept = J) =>
  new Request(`http://localhost/graphql?${new URLSearchParams({ query })}`, { headers: { accept } })
const post = (body: string | object, accept = J, type = J) =>
  new Request('http://localhost/graphql', {
    method: 'POST',
    headers: { accept, 'content-type': type },
    body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
  })
const withHeader = (request: Request, name: string, value: string) => {
  request.headers.set(name, value)
  return request
}
const hello = { query: '{ hello }' }
const misfit = { query: 'query ($n: Int) { hello(n: $n) }', variables: { n: 'x' } }
const notUtf8 = new Blob(['{"query":"{ hello }","extensions":{"x":"', Uint8Array.of(0xff), '"}}'])

const incremental = {
  extensions: {},
  initialResult: { data: { hello: 'world' }, hasNext: true },
  subsequentResults: (async function* () {})(),
}

type Probe = (accept: string, options: HandlerOptions) => Promise<Response>

const send = (request: Request, options: HandlerOptions = {}): Promise<Response> =>
  createHandler({ schema, rootValue, ...options })(request)

/** The situations as they are worded in the tables. */
const PROBES: { readonly [situation: string]: Probe } = {
  success: (accept, options) => send(post(hello, accept), options),
  'executed, with field errors': (accept, options) =>
    send(post({ query: '{ fails }' }, accept), options),
  'field error that makes `data` null': (accept, options) =>
    send(post({ query: '{ fatal }' }, accept), options),
  'body missing or not JSON': (accept, options) => send(post('{', accept), options),
  'JSON, but no GraphQL request': (accept, options) => send(post({}, accept), options),
  'document does not parse': (accept, options) => send(post({ query: '{' }, accept), options),
  'document not valid': (accept, options) => send(post({ query: '{ nope }' }, accept), options),
  'operation unknown, or a subscription': (accept, options) =>
    send(post({ query: 'subscription { events }' }, accept), options),
  'variables do not fit': (accept, options) => send(post(misfit, accept), options),
  'mutation over GET': (accept, options) => send(get('mutation { change }', accept), options),
  'method other than GET and POST': (accept, options) =>
    send(new Request('http://localhost/', { method: 'PUT', headers: { accept } }), options),
  'body larger than `bodyLimitBytes`': (accept, options) =>
    send(post(hello, accept), { ...options, bodyLimitBytes: 1 }),
  'document beyond a [limit](#limits)': (accept, options) =>
    send(post(hello, accept), { ...options, maxTokens: 1 }),
  'body compressed, or not `application/json` in UTF-8': (accept, options) =>
    send(post(hello, accept, 'text/plain'), options),
  'an option throws': (accept, options) => send(post(hello, accept), { ...options, context: fail }),
  '`variables` as text': (accept) => send(post({ ...hello, variables: '{}' }, accept)),
  'POST with the query in the URL': (accept) =>
    send(new Request(get('{ hello }', accept), { method: 'POST' })),
  'body `application/graphql` or a form': (accept) =>
    send(post('{ hello }', accept, 'application/graphql')),
  'body compressed with gzip': (accept) =>
    send(
      withHeader(
        post(new Blob([gzipSync(JSON.stringify(hello))]), accept),
        'content-encoding',
        'gzip',
      ),
    ),
  'byte order mark before the body, not on fetch': () =>
    send(post(`\uFEFF${JSON.stringify(hello)}`)),
  '`Accept: text/html`': () => send(get('{ hello }', 'text/html')),
  'variables do not fit, accepting `GR`': () => send(post(misfit, GR)),
  '`Accept: GR;q=0.1, J`': () => send(get('{ hello }', `${GR};q=0.1, ${J}`)),
  '`Accept: J;q=0`': () => send(get('{ hello }', `${J};q=0`)),
  '`Accept: GR; charset=utf8`': () => send(get('{ hello }', `${GR}; charset=utf8`)),
  '`Content-Type: J; charset=utf8`': () => send(post(hello, J, `${J}; charset=utf8`)),
  '`Content-Type: J; charset="utf-8"`': () => send(post(hello, J, `${J}; charset="utf-8"`)),
  '`Content-Type: J; profile=x`': () => send(post(hello, J, `${J}; profile=x`)),
  'empty `operationName`': () => send(post({ ...hello, operationName: '' })),
  'array (batch)': () => send(post([hello])),
  'body with bytes that are not UTF-8': () => send(post(notUtf8)),
  'unescaped `?` in a parameter of a GET': () =>
    send(new Request('http://localhost/graphql?query={hello}&extensions={"a":"?"}')),
  'incremental result from `execute`': () => send(get('{ hello }'), { execute: () => incremental }),
}

async function probe(situation: string, accept: string, options: HandlerOptions = {}) {
  const run = PROBES[situation]
  assert.ok(run, `Nothing tests this row: ${situation}`)
  return run(accept, options)
}

test('the statuses are those of the table of profiles', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { rows } = findTable(manual, 'Statuses: two profiles', 'what happened')
  for (const [situation = '', ...statuses] of rows) {
    const found = [
      await probe(situation, J),
      await probe(situation, GR),
      await probe(situation, J, { profile: '2026' }),
      await probe(situation, GR, { profile: '2026' }),
    ]
    assert.deepEqual(
      found.map(({ status }) => String(status)),
      statuses,
      situation,
    )
  }
})

test('the differences to express-graphql are those of the table', async () => {
  const { rows } = findTable(migration, 'From express-graphql', 'request')
  for (const [situation = '', , ...statuses] of rows) {
    const found = [await probe(situation, J), await probe(situation, GR)]
    assert.deepEqual(
      found.map(({ status }) => String(status)),
      statuses,
      situation,
    )
  }
})

test('the differences to graphql-http are those of the table', async () => {
  const { rows } = findTable(migration, 'Answers that differ', 'request')
  for (const [situation = '', , claim = ''] of rows) {
    const response = await probe(situation, J)
    const type = response.headers.get('content-type')?.startsWith(GR) ? '`GR`' : '`J`'
    const body = await response.text()
    const [, status, rest = ''] = /^(\d+) ?(.*)$/.exec(claim) ?? []
    assert.equal(String(response.status), status, situation)
    if (rest === '`GR`' || rest === '`J`') assert.equal(type, rest, situation)
    else if (rest === 'as if absent') assert.equal(body, '{"data":{"hello":"world"}}')
    else assert.ok(body.includes(rest.replaceAll('`', '')), `${situation}: ${body}`)
  }
})

test('the import paths of the tables exist', () => {
  const hosts = findTable(manual, 'Hosts', 'host').rows.map(([, path = '']) => path)
  const paths = [
    ...hosts,
    ...findTable(migration, 'Names', 'graphql-http').rows.flatMap((row) => row.slice(1)),
  ]
    .flatMap(readNames)
    .map((name) => name.replace(/^…\/|^(?=use\/)/, '@portcullis/graphql-over-http/'))
  assert.ok(paths.length > 15)
  for (const path of paths) assert.ok(existsSync(fileURLToPath(import.meta.resolve(path))), path)
})

test('the links refer to existing pages and headings', () => {
  for (const [name, page] of Object.entries({
    'docs/graphql.md': manual,
    'docs/graphql-migration.md': migration,
  })) {
    const links = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    assert.ok(links.length > 5)
    for (const link of links) {
      if (/^https:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? join(root, name) : join(root, dirname(name), path)
      assert.ok(existsSync(target), `${name}: ${link}`)
      if (anchor === undefined) continue
      const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map(
        ([, heading = '']) =>
          heading
            .toLowerCase()
            .replace(/[^\w -]/g, '')
            .replaceAll(' ', '-'),
      )
      assert.ok(headings.includes(anchor), `${name}: ${link}`)
    }
  }
})

test('the sizes are at most those of the table, and not much smaller', async () => {
  for (const [what = '', ...claims] of findTable(manual, 'Sizes', 'import').rows) {
    const [name = '', path = ''] = readNames(what)
    const from = `@portcullis/graphql-over-http${path.replace('…', '')}`
    const { outputFiles } = await build({
      stdin: { contents: `export { ${name} } from '${from}'`, resolveDir: root },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      external: ['graphql', 'node:*'],
      write: false,
    })
    const bytes = outputFiles[0]?.contents ?? new Uint8Array()
    for (const [index, size] of [bytes.length, gzipSync(bytes, { level: 9 }).length].entries()) {
      const claim = Number.parseFloat(claims[index] ?? '') * 1000
      assert.ok(size <= claim && size > claim - 1000, `${what}: ${size} bytes`)
    }
  }
})

// Runs the installed command through npx, as a user does, against a server of the installed
// package.
// Arguments: how to start npx.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { buildSchema } from 'graphql'

process.once('uncaughtException', (error) => {
  console.error(error.stack)
  process.exit(1)
})

const schema = buildSchema('type Query { hello: String }')
const server = createServer(createHandler({ schema })).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/graphql`
const { version } = createRequire(import.meta.url)('@portcullis/graphql-over-http/package.json')

const [npx, ...npxArguments] = process.argv.slice(2)
const run = (...args) =>
  new Promise((done) => {
    // Never from the registry, and without npm's own output.
    execFile(npx, [...npxArguments, '--no', '--silent', '--', ...args], (error, stdout, stderr) => {
      done({ code: error ? error.code : 0, stdout, stderr })
    })
  })

const report = await run('graphql-over-http', 'audit', url, '--json', '--html', 'report.html')
assert.equal(report.code, 0, report.stderr)
const { total, ok } = JSON.parse(report.stdout)
assert.deepEqual({ total, ok }, { total: 61, ok: 61 })
assert.match(readFileSync('report.html', 'utf8'), /^<!doctype html>/i)

// The package's own name works too, since it has only one command.
assert.deepEqual(await run('@portcullis/graphql-over-http', '--version'), {
  code: 0,
  stdout: `${version}\n`,
  stderr: '',
})

server.close()
server.closeAllConnections()
const unreachable = await run('graphql-over-http', 'audit', url)
assert.equal(unreachable.code, 2)
assert.equal(unreachable.stderr.trim().split('\n').length, 1, unreachable.stderr)
console.log(`${ok} of ${total} audits ok`)

/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { send } from '../../../support/http-client.ts'
import { openSsoServer } from '../../../support/saml/sso-server.ts'

/** The public URL of the server under test. */
const publicUrl = 'https://auth.example'

interface Check {
  readonly check: string
  readonly status: string
  readonly reason: string | null
  readonly resource: string | null
}

interface Exchange {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly status: number
  readonly answer?: object
}

/** Checks of what is optional in RFC 7644, or what this server refuses on purpose. */
const exceptions: Readonly<Record<string, string>> = {
  'search_with_attributes User': 'requests to /.search are optional (section 3.4.3)',
  'search_with_attributes Group': 'requests to /.search are optional (section 3.4.3)',
  'check_add_attribute Group': 'the server adds the name of a member, as most servers do',
  'check_replace_attribute Group': 'the server adds the name of a member, as most servers do',
  'check_remove_attribute User': 'active cannot be removed, because it says who may sign in',
}

const recording = join(import.meta.dirname, 'recorded.jsonl')

async function openScim(t: TestContext) {
  const server = await openSsoServer(t)
  if (!server) return undefined
  const { id } = await server.addCompany()
  const path = `/admin/sso/providers/${id}/scim-tokens`
  const { body } = await send(server.url, path, { method: 'POST', token: server.serviceToken })
  return { url: server.url, token: `${body.token}` }
}

/** A Python with scim2-tester and httpx2. */
const { AUTH_TEST_SCIM_PYTHON: python } = process.env

test('scim2-tester finds no fault but the exceptions', {
  skip: python === undefined && 'AUTH_TEST_SCIM_PYTHON does not name a Python with scim2-tester',
}, async (t) => {
  const server = await openScim(t)
  if (!server) return
  const program = [join(import.meta.dirname, 'client.py')]
  const child = spawn(python ?? '', program, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ ...server, publicUrl }))
  const { checks, exchange }: { checks: readonly Check[]; exchange: readonly Exchange[] } =
    JSON.parse(await text(child.stdout))
  const failed = checks.filter(({ status }) => status !== 'SUCCESS')
  assert.deepEqual(
    [...new Set(failed.map(({ check, resource }) => `${check} ${resource}`))].toSorted(),
    Object.keys(exceptions).toSorted(),
    JSON.stringify(failed, null, 2),
  )
  assert.ok(checks.length > 60)
  if (process.env['UPDATE_RECORDING'] === '1') {
    writeFileSync(recording, `${exchange.filter(isWorthKeeping).map(toLine).join('\n')}\n`)
  }
})

/** It deletes each resource several times. */
function isWorthKeeping({ method, status }: Exchange): boolean {
  return !(method === 'DELETE' && status === 404)
}

const toLine = (one: Exchange) => JSON.stringify(one)

const idPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g
const timePattern = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d(?::?\d\d)?)/g

test('the recorded requests of scim2-tester get the same responses', async (t) => {
  const server = await openScim(t)
  if (!server) return
  /** Recorded IDs of resources, and those of this run. */
  const ids = new Map<string, string>()
  const toCurrent = (recorded: string) => recorded.replaceAll(idPattern, (id) => ids.get(id) ?? id)
  const lines = readFileSync(recording, 'utf8').trim().split('\n')
  assert.ok(lines.length > 100)
  for (const [at, line] of lines.entries()) {
    const { method, path, body, status, answer }: Exchange = JSON.parse(line)
    const current = await send(server.url, toCurrent(path), {
      method,
      token: server.token,
      ...(body !== undefined && { body: JSON.parse(toCurrent(JSON.stringify(body))) }),
    })
    const recordedId = (answer as { id?: string } | undefined)?.id
    if (status === 201 && recordedId !== undefined) ids.set(recordedId, current.body.id)
    const where = `line ${at + 1}: ${method} ${path}`
    assert.equal(current.status, status, where)
    if (answer === undefined) continue
    const normalise = (value: unknown) => JSON.stringify(value).replaceAll(timePattern, 'TIME')
    const expected = JSON.parse(toCurrent(normalise(answer)))
    assert.deepEqual(sortMembers(JSON.parse(normalise(current.body))), sortMembers(expected), where)
  }
})

/** Members are in the order of their IDs, which are random. */
function sortMembers(answer: { members?: readonly { readonly value: string }[] }) {
  const { members } = answer
  if (!Array.isArray(members)) return answer
  return { ...answer, members: members.toSorted((a, b) => (a.value < b.value ? -1 : 1)) }
}

import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createCountsRequest, toAuditHeaders } from '../../src/up/secrets.ts'

const secrets = { jwtSecret: 'j', consoleToken: 'c', smsSecret: 's' }

function toRequest(headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  Object.assign(request.headers, headers)
  return request
}

test('only requests of the audits are exempt from the limits', () => {
  const countsRequest = createCountsRequest(secrets)
  const [name = '', pass = ''] = Object.entries(toAuditHeaders(secrets))[0] ?? []
  assert.equal(countsRequest(toRequest({ [name]: pass })), false)
  assert.equal(countsRequest(toRequest({})), true)
  assert.equal(countsRequest(toRequest({ [name]: '' })), true)
  assert.equal(countsRequest(toRequest({ [name]: `${pass}0` })), true)
  assert.equal(countsRequest(toRequest({ [name]: pass.replace(/.$/, '!') })), true)
  const others = toAuditHeaders({ ...secrets, consoleToken: 'another' })
  assert.equal(countsRequest(toRequest(others)), true)
})

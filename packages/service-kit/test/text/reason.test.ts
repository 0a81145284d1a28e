import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toCode, toMessage, toReason } from '../../src/text/reason.ts'

function catchError(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

test('the reason of an error is its message, without the line break of OpenSSL', () => {
  assert.equal(toReason(new Error('the disk is full')), 'the disk is full')
  assert.equal(toReason(new Error('error:0A00010B:SSL routines\n')), 'error:0A00010B:SSL routines')
  assert.equal(toReason('a string'), 'a string')
  assert.equal(toReason(undefined), 'undefined')
})

test('the reason of a file system error is only its plain part', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reason, open '))
  t.after(() => rmSync(folder, { recursive: true }))
  const missing = join(folder, 'none')
  const reasonOf = (run: () => unknown) => toReason(catchError(run))
  assert.equal(
    reasonOf(() => readFileSync(missing)),
    'no such file or directory',
  )
  assert.equal(
    reasonOf(() => readFileSync(join(import.meta.filename, 'none'))),
    'not a directory',
  )
  assert.equal(
    reasonOf(() => readFileSync(folder)),
    'is a directory, not a file',
  )
  const full = "ENOSPC: no space left on device, rename '/a' -> '/b'"
  const error = Object.assign(new Error(full), { code: 'ENOSPC', syscall: 'rename' })
  assert.equal(toReason(error), 'no space left on device')
})

test('the message of a file system error includes the path', () => {
  const error = catchError(() => readFileSync('/nowhere/at/all'))
  assert.equal(toMessage(error), "ENOENT: no such file or directory, open '/nowhere/at/all'")
})

test('a connection error keeps its message', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  await once(server.close(), 'close')
  const failureOf = (socket: Socket) => once(socket, 'connect').catch(toReason)
  const refused = await failureOf(connect(port, '127.0.0.1'))
  assert.equal(refused, `connect ECONNREFUSED 127.0.0.1:${port}`)
  assert.equal(await failureOf(connect('/nowhere/socket')), 'connect ENOENT /nowhere/socket')
})

test('an error without a message is described by its errors, its code or its name', () => {
  const errors = [new Error('connect ECONNREFUSED ::1:1'), 'timeout']
  const code = 'ECONNREFUSED'
  const several = Object.assign(new AggregateError(errors), { code })
  assert.equal(toReason(several), 'connect ECONNREFUSED ::1:1; timeout')
  assert.equal(toReason(new AggregateError(errors, 'no address responds')), 'no address responds')
  assert.equal(toReason(Object.assign(new AggregateError([]), { code })), code)
  assert.equal(toReason(Object.assign(new Error(), { code })), code)
  assert.equal(toReason(new RangeError()), 'RangeError')
})

test('the code of anything without a code is empty', () => {
  assert.equal(toCode(Object.assign(new Error('x'), { code: '42P01' })), '42P01')
  assert.equal(toCode(Object.assign(new Error('x'), { code: undefined })), '')
  assert.equal(toCode(new Error('x')), '')
  assert.equal(toCode({ code: 'ENOENT' }), '')
  assert.equal(toCode(undefined), '')
})

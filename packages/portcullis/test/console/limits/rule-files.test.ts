import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConsoleError } from '../../../src/console/errors.ts'
import { reviewDraft } from '../../../src/console/limits/draft-review.ts'
import { readRuleFile, writeRuleFile } from '../../../src/console/limits/rule-files.ts'

const text = 'domain: shop\ndescriptors:\n  - key: user\n'

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'rule-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function assertRefused(work: Promise<unknown>, status: number, message: RegExp) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ConsoleError, `${error}`)
    assert.equal(error.status, status)
    assert.match(error.message, message)
    return true
  })
}

test('only regular files of a bounded size are read', async (t) => {
  const folder = createFolder(t)
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')])
  mkdirSync(join(folder, 'folder.yaml'))
  writeFileSync(join(folder, 'huge.yaml'), '')
  truncateSync(join(folder, 'huge.yaml'), 64 * 1024 * 1024 + 1)
  await assertRefused(readRuleFile(folder, 'pipe.yaml'), 404, /not a regular file/)
  await assertRefused(readRuleFile(folder, 'folder.yaml'), 404, /not a regular file/)
  await assertRefused(readRuleFile(folder, 'huge.yaml'), 422, /larger than 67108864 bytes/)
  await assertRefused(readRuleFile(folder, 'missing.yaml'), 404, /does not exist/)
  writeFileSync(join(folder, 'shop.yaml'), text)
  assert.equal((await readRuleFile(folder, 'shop.yaml')).text, text)
})

test('nothing is written through a symbolic link', async (t) => {
  const folder = createFolder(t)
  const outside = join(createFolder(t), 'mine.yaml')
  writeFileSync(outside, text)
  symlinkSync(outside, join(folder, 'shop.yaml'))
  const { version } = await readRuleFile(folder, 'shop.yaml')
  const changed = { name: 'shop.yaml', text: 'domain: other\n' }
  await assertRefused(writeRuleFile(folder, { ...changed, version }), 409, /symbolic link/)
  await assertRefused(writeRuleFile(folder, { ...changed, version: null }), 409, /already exists/)
  assert.equal(readFileSync(outside, 'utf8'), text)
})

/** What can go wrong when the recorded requests are read, and the reason that is shown. */
const failures: Readonly<Record<string, readonly [answer: RequestListener, reason: RegExp]>> = {
  'more of them than the console reads': [
    (_request, response) => response.end(Buffer.alloc(33 * 1024 * 1024, '\n')),
    /too large, because it has more than 32 MB\. Set a lower DEBUG_RECORDED_DECISIONS/,
  ],
  'a connection that ends in the middle': [
    (_request, response) => {
      response.writeHead(200, { 'content-length': 1_000 })
      response.write('{"time":1}\n', () => response.destroy())
    },
    /^The recorded requests of the service cannot be read: /,
  ],
}

for (const [name, [answer, reason]] of Object.entries(failures)) {
  test(`a draft is reviewed without the recorded requests: ${name}`, async (t) => {
    const folder = createFolder(t)
    writeFileSync(join(folder, 'shop.yaml'), text)
    const debug = createServer((request, response) => {
      if (request.url === '/decisions') answer(request, response)
      else response.end('/decisions: print out the latest requests\n')
    })
    await new Promise<void>((listening) => debug.listen(0, '127.0.0.1', listening))
    t.after(() => debug.close().closeAllConnections())
    const debugUrl = `http://127.0.0.1:${(debug.address() as AddressInfo).port}`
    const service = { debugUrl, debugToken: undefined }
    const review = await reviewDraft({ directory: folder, service }, { name: 'shop.yaml', text })
    assert.equal(review.comparison, undefined)
    assert.match(review.reason ?? '', reason)
  })
}

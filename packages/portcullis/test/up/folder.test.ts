import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkFolder, findFolderUser, lockFile, takeFolder } from '../../src/up/data-folder.ts'
import { UpRefusal } from '../../src/up/errors.ts'
import { provideSecrets } from '../../src/up/secrets.ts'

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'up-folder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function assertRefused(run: () => unknown, message: RegExp): void {
  assert.throws(run, (error) => error instanceof UpRefusal && message.test(error.message))
}

/** Creates the folder as an earlier start leaves it. */
function createUsedFolder(folder: string): void {
  using _lock = takeFolder(folder, false)
  provideSecrets(folder)
  mkdirSync(join(folder, 'database'))
  writeFileSync(join(folder, 'database', 'users'), 'ada')
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('the folder and its secrets are private to their owner and ignored by git', (t) => {
  const folder = join(createFolder(t), 'data')
  using _lock = takeFolder(folder, false)
  const secrets = provideSecrets(folder)
  assert.equal(modeOf(folder), 0o700)
  assert.equal(modeOf(join(folder, 'secrets.json')), 0o600)
  assert.match(readFileSync(join(folder, '.gitignore'), 'utf8'), /^\*$/m)
  assert.equal(new Set(Object.values(secrets)).size, 3)
})

test('secrets are kept, and made private again if others could read them', (t) => {
  const folder = createFolder(t)
  const first = provideSecrets(folder)
  chmodSync(join(folder, 'secrets.json'), 0o644)
  assert.deepEqual(provideSecrets(folder), first)
  assert.equal(modeOf(join(folder, 'secrets.json')), 0o600)
})

test('damaged secrets are refused, with their path and a remedy', (t) => {
  const folder = createFolder(t)
  const path = join(folder, 'secrets.json')
  const good = provideSecrets(folder)
  for (const text of ['', '{', 'null', '[]', JSON.stringify({ ...good, jwtSecret: 'short' })]) {
    writeFileSync(path, text)
    assertRefused(() => provideSecrets(folder), /secrets\.json is damaged.*--fresh/)
  }
})

test('--fresh deletes only the data of earlier starts, even with damaged secrets', (t) => {
  const folder = createFolder(t)
  createUsedFolder(folder)
  writeFileSync(join(folder, 'secrets.json'), '{')
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  checkFolder(folder)
  using _lock = takeFolder(folder, true)
  assert.deepEqual(readdirSync(folder).toSorted(), ['.gitignore', 'notes.txt', lockFile])
})

test('--fresh does not touch a folder that up did not create', (t) => {
  const folder = createFolder(t)
  mkdirSync(join(folder, 'database'))
  for (const secrets of [undefined, '{"password":"of another program"}']) {
    if (secrets !== undefined) writeFileSync(join(folder, 'secrets.json'), secrets)
    assertRefused(() => takeFolder(folder, true), /no valid secrets\.json/)
    assert.ok(existsSync(join(folder, 'database')))
    assert.equal(existsSync(join(folder, lockFile)), false)
  }
})

test('a folder with other files is refused', (t) => {
  const folder = createFolder(t)
  checkFolder(folder)
  writeFileSync(join(folder, 'package.json'), '{}')
  assertRefused(() => checkFolder(folder), /contains other files.*--data DIR/)
  assertRefused(() => checkFolder(join(folder, 'package.json')), /cannot be used.*--data DIR/)
})

test('only one process uses a folder at a time; the lock of a killed process is ignored', (t) => {
  const folder = createFolder(t)
  createUsedFolder(folder)
  {
    using lock = takeFolder(folder, false)
    lock.publishPorts({ console: 3000 }, '127.0.0.1')
    assert.equal(findFolderUser(folder)?.pid, process.pid)
    const message = new RegExp(`Process ${process.pid} is already using ${folder}, .* port 3000`)
    assertRefused(() => checkFolder(folder), message)
    assertRefused(() => takeFolder(folder, true), message)
    assert.ok(existsSync(join(folder, 'database')))
  }
  assert.equal(findFolderUser(folder), undefined)
  // The process id is reused by another process.
  writeFileSync(join(folder, lockFile), JSON.stringify({ pid: process.pid, startedAt: '1' }))
  using _lock = takeFolder(folder, false)
  checkFolderIsOurs(folder)
})

function checkFolderIsOurs(folder: string): void {
  assert.equal(findFolderUser(folder)?.pid, process.pid)
}

test('symbolic links in the folder are refused, and their targets stay unchanged', (t) => {
  const outside = join(createFolder(t), 'mine.txt')
  writeFileSync(outside, 'mine')
  const links = ['.gitignore', 'secrets.json', 'database', 'logs', 'mailbox', 'logs/auth.log']
  for (const name of [...links, 'mailbox/new']) {
    const folder = createFolder(t)
    createUsedFolder(folder)
    mkdirSync(join(folder, 'logs'))
    mkdirSync(join(folder, 'mailbox/new'), { recursive: true })
    rmSync(join(folder, name), { recursive: true, force: true })
    symlinkSync(outside, join(folder, name))
    assertRefused(() => takeFolder(folder, false), new RegExp(`${name} is a symbolic link.*--data`))
    assert.equal(readFileSync(outside, 'utf8'), 'mine', name)
    assert.equal(existsSync(join(folder, lockFile)), false)
  }
})

test('secrets are not read through a link or from a very large file', (t) => {
  const folder = createFolder(t)
  provideSecrets(folder)
  const elsewhere = createFolder(t)
  symlinkSync(join(folder, 'secrets.json'), join(elsewhere, 'secrets.json'))
  assertRefused(() => provideSecrets(elsewhere), /symbolic link/)
  writeFileSync(join(folder, 'secrets.json'), ' '.repeat(100_000))
  assertRefused(() => provideSecrets(folder), /was not written by up/)
})

test('a folder that is a symbolic link or belongs to another user is refused', (t) => {
  const folder = createFolder(t)
  const link = `${folder}-link`
  symlinkSync(folder, link)
  t.after(() => rmSync(link))
  assertRefused(() => checkFolder(link), /symbolic link.*--data DIR/)
  assertRefused(() => takeFolder(link, true), /symbolic link.*--data DIR/)
  // Root can change the owner of a folder; for other users, / belongs to another user.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, 12_345, 12_345)
  const foreign = isRoot ? folder : '/'
  assertRefused(() => checkFolder(foreign), /belongs to user id .*--data DIR/)
  assertRefused(() => takeFolder(foreign, false), /belongs to user id .*--data DIR/)
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { dispatch } from '@portcullis/service-kit/cli/dispatch'
import { commands as authCommands } from '../../packages/auth/src/commands/index.ts'
import { HELP as auditHelp } from '../../packages/graphql-over-http/src/cli/args.ts'
import { otherPrograms } from '../../packages/portcullis/src/commands/hand-over.ts'
import { createCommands } from '../../packages/portcullis/src/commands/index.ts'
import { commands as ratelimitCommands } from '../../packages/ratelimit/src/commands/index.ts'

const root = dirname(dirname(import.meta.dirname))

/** What no help page may contain, and the form to use instead. */
const otherForms: readonly (readonly [RegExp, string])[] = [
  [/\(default\b|\(the default[;)]/, '"; default: X"'],
  [/(?<!\bby\s|\bthe\s|'s\s)\bdefault\b(?!:|\s\s)/, '"; default: X"'],
  [/\b(?:DIRECTORY|FOLDER)\b/, 'DIR'],
  [/\bExit code:|\bwrong usage\b/, '"Exit codes: …, 2 for invalid arguments"'],
  [/\[options\]/i, '[OPTION…]'],
  [/\bmay be repeated\b/, 'repeatable'],
]

function checkForms(page: string): void {
  for (const [other, form] of otherForms) {
    assert.equal(other.exec(page)?.[0], undefined, `use ${form}`)
  }
  const [beforeOptions = ''] = page.split(/^ {2}--?\w/m)
  if (beforeOptions !== page) assert.match(beforeOptions, /^Options.*:$/m)
}

const programs = {
  portcullis: createCommands('1.2.3'),
  auth: authCommands('1.2.3'),
  ratelimit: ratelimitCommands,
}

const pages = new Map([['graphql-over-http audit', auditHelp]])
for (const [program, commands] of Object.entries(programs)) {
  for (const [name, load] of Object.entries(commands)) {
    // portcullis does not print the help of commands of other packages.
    if (program === 'portcullis' && name in otherPrograms) continue
    pages.set(`${program} ${name}`, (await load()).usage)
  }
}

/** A variable with its default, which is not wrapped. */
const variable = /^ {2}[A-Z][A-Z_]+ = /

for (const [command, page] of pages) {
  test(`the help of ${command} has the same form as that of the other commands`, () => {
    checkForms(page)
    assert.match(page, /^Exit codes: 0 /m)
  })

  test(`the help of ${command} fits into 80 columns`, () => {
    const long = page.split('\n').filter((line) => line.length > 80 && !variable.test(line))
    assert.deepEqual(long, [])
  })
}

for (const [program, commands] of Object.entries(programs)) {
  test(`the list of the commands of ${program} fits into 80 columns`, async () => {
    let printed = ''
    const stdout = { write: (text: string) => (printed += text) }
    const io = { stdout, stderr: stdout, env: {}, isTerminal: false }
    const settings = { name: program, version: '1.2.3', summary: '', commands }
    assert.equal(await dispatch(settings, ['--help'], io), 0)
    assert.deepEqual(
      printed.split('\n').filter((line) => line.length > 80),
      [],
    )
  })
}

const scripts = ['scripts/**/*.ts', 'site/src/*.ts', 'packages/*/{bench,fuzz,screenshots}/**/*.ts']
// The drills contain texts of commands that they write into a copy of a package.
const isProgram = (path: string) => !/^scripts.(?:drills|test)\b/.test(path)
for (const path of globSync(scripts, { cwd: root }).filter(isProgram).sort()) {
  const source = readFileSync(join(root, path), 'utf8')
  for (const [, text = ''] of source.matchAll(/`(Usage: (?:\\`|[^`])*)/g)) {
    const page = text.replaceAll('\\`', '`')

    test(`the help in ${path} has the same form as that of the other commands`, () => {
      checkForms(page)
      assert.match(page, /^Exit codes: 0 /m)
      assert.match(page, /^ {2}--help /m)
    })

    test(`the help in ${path} fits into 80 columns`, () => {
      const long = page.split('\n').filter((line) => line.length > 80 && !line.includes('${'))
      assert.deepEqual(long, [])
    })
  }
}

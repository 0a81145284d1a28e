import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { endpoints } from '../../../packages/auth/src/features/index.ts'
import { type KubernetesObject, parseObjects, readChartYaml, root } from '../chart.ts'
import { knownVariables } from './support/variables.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const istio = parseObjects(read('deploy/gateway/istio.yaml'))
const envoyGateway = parseObjects(read('deploy/gateway/envoy-gateway.yaml'))

/** The configuration that packages/portcullis/test/examples/compose-gate.test.ts runs with a real Envoy. */
const [listener] = parse(read('examples/compose/envoy.yaml')).static_resources.listeners
const tested = listener.filter_chains[0].filters[0].typed_config
const [testedHost] = tested.route_config.virtual_hosts
const testedSignIn = testedHost.routes.find(
  (route: { match: object }) => 'safe_regex' in route.match,
)

const find = (objects: readonly KubernetesObject[], kind: string, name: string) => {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  assert.ok(found, `${kind} ${name}`)
  return found['spec']
}

test('the rate limit filter of the Istio recipe is the tested one', () => {
  const [filter, host, route] = find(istio, 'EnvoyFilter', 'ratelimit').configPatches
  const { typed_config: own } = filter.patch.value
  const { typed_config: expected } = tested.http_filters.find(
    ({ name }: { name: string }) => name === filter.patch.value.name,
  )
  const service = own.rate_limit_service.grpc_service.envoy_grpc
  assert.match(service.cluster_name, /^outbound\|8081\|\|portcullis-ratelimit\./)
  const address = { envoy_grpc: { cluster_name: 'ratelimit' } }
  const rateLimitService = { ...own.rate_limit_service, grpc_service: address }
  assert.deepEqual({ ...own, rate_limit_service: rateLimitService }, expected)
  assert.deepEqual(host.patch.value.rate_limits, testedHost.rate_limits)
  assert.deepEqual(route.patch.value.route.rate_limits, testedSignIn.route.rate_limits)
})

test('paths are normalized as in the tested configuration', () => {
  const [{ patch }] = find(istio, 'EnvoyFilter', 'paths').configPatches
  const { '@type': _, ...own } = patch.value.typed_config
  for (const [name, value] of Object.entries(own)) assert.equal(tested[name], value, name)
  assert.equal(Object.keys(own).length, 3)
})

test('both recipes limit the same endpoints as the tested configuration, and all of them exist', () => {
  const { regex } = testedSignIn.match.safe_regex
  const route = find(istio, 'VirtualService', 'front').http.find(
    ({ name }: { name?: string }) => name === 'sign-in',
  )
  assert.equal(route.match[0].uri.regex, regex)
  const { rules } = find(envoyGateway, 'BackendTrafficPolicy', 'auth').rateLimit.global
  for (const { clientSelectors } of rules) assert.equal(clientSelectors[0].path.value, regex)
  const paths = new Set(endpoints.map(({ path }) => path))
  const [, names = ''] = /\((.+)\)/.exec(regex) ?? []
  for (const name of names.split('|')) assert.ok(paths.has(`/${name}`), name)
})

test('both recipes forward the user id of verified tokens, and require the same audience', () => {
  const [rule] = find(istio, 'RequestAuthentication', 'front').jwtRules
  const [provider] = find(envoyGateway, 'SecurityPolicy', 'api').jwt.providers
  const keys = 'http://portcullis-auth.portcullis.svc.cluster.local/.well-known/jwks.json'
  assert.ok(endpoints.some(({ path }) => keys.endsWith(path)))
  assert.deepEqual([rule.jwksUri, provider.remoteJWKS.uri], [keys, keys])
  assert.deepEqual(rule.audiences, provider.audiences)
  const [fromIstio] = rule.outputClaimToHeaders
  assert.deepEqual(provider.claimToHeaders, [fromIstio])
})

test('the admin API and the readiness check are not routed', () => {
  const hidden = ['/auth/v1/admin', '/auth/v1/ready']
  const refused = testedHost.routes.filter((route: object) => 'direct_response' in route)
  assert.deepEqual(
    refused.map(({ match }: { match: { prefix: string } }) => match.prefix),
    hidden,
  )
  const [first] = find(istio, 'VirtualService', 'front').http
  assert.equal(first.directResponse.status, 404)
  assert.deepEqual(
    first.match.map(({ uri }: { uri: { prefix: string } }) => uri.prefix),
    hidden,
  )
  const [rule] = find(envoyGateway, 'HTTPRoute', 'auth').rules
  assert.equal(rule.filters[0].extensionRef.name, 'not-found')
  assert.deepEqual(
    rule.matches.map(({ path }: { path: { value: string } }) => path.value),
    hidden,
  )
})

test('Envoy Gateway uses the image of the chart', () => {
  const { config } = parse(read('deploy/gateway/envoy-gateway-values.yaml'))
  const { image } = config.envoyGateway.provider.kubernetes.rateLimitDeployment.container
  const { image: shared, ratelimit } = readChartYaml('values.yaml')
  const { appVersion } = readChartYaml('Chart.yaml')
  assert.equal(image, `${shared.registry}/${ratelimit.image.repository}:${appVersion}`)
})

test('every variable in the README exists', () => {
  const named = [...read('deploy/gateway/README.md').matchAll(/`(AUTH_[A-Z_]+)`/g)]
  assert.ok(named.length > 4)
  assert.deepEqual(
    named.map(([, name = '']) => name).filter((name) => !knownVariables.auth.has(name)),
    [],
  )
})

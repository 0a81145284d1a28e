import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../packaging/published-packages.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Every place that must have the version of the release, with its current version. */
function listVersions(): [place: string, version: string][] {
  const manifests = ['package.json', ...globSync('packages/*/package.json', { cwd: root })].sort()
  const chart = 'deploy/helm/portcullis/Chart.yaml'
  const { version, appVersion } = parse(read(chart))
  const gateway = 'deploy/gateway/envoy-gateway-values.yaml'
  const [, image = ''] = /portcullis-ratelimit:(\S+)/.exec(read(gateway)) ?? []
  const manifestVersions = manifests.flatMap((file): [string, string][] => {
    const { version: own, dependencies = {} } = JSON.parse(read(file))
    const needed = Object.entries<string>(dependencies)
      .filter(([name]) => name.startsWith('@portcullis/'))
      .map(([name, needs]): [string, string] => [`${file}: ${name}`, needs])
    return [[file, own], ...needed]
  })
  return [
    ...manifestVersions,
    [`${chart}: version`, version],
    [`${chart}: appVersion`, appVersion],
    [`${gateway}: image`, image],
  ]
}

/** Returns a line for each place that has another version. */
export function findOtherVersions(expected: string): string[] {
  return listVersions()
    .filter(([, version]) => version !== expected)
    .map(
      ([place, version]) =>
        `${place} is ${version}, not ${expected}. Change it before the release.`,
    )
}

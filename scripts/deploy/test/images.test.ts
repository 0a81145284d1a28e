import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpoints } from '../../../packages/auth/src/features/index.ts'
import { chartFolder, readChartYaml, root } from '../chart.ts'
import { images } from '../images/images.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = Object.entries(images).map(([name, { containerfile }]) => ({
  name,
  text: read(containerfile),
}))

test('every Containerfile is built and run by npm run deploy-check -- images', () => {
  const found = globSync(['deploy/**/*Containerfile', 'examples/**/*Containerfile'], { cwd: root })
  assert.deepEqual(
    found.sort(),
    Object.values(images)
      .map(({ containerfile }) => containerfile)
      .sort(),
  )
})

test('the images have the Node of this repository, unless a build argument names another base', () => {
  const { optionalDependencies } = JSON.parse(read('package.json'))
  const [pinned, ...others] = new Set(Object.values(optionalDependencies))
  assert.deepEqual(others, [])
  const image = `docker.io/library/node:${pinned}-bookworm-slim`
  for (const { name, text } of files) {
    const args = [...text.matchAll(/^ARG (\w+)=(.+)$/gm)].map(([, arg, value]) => [arg, value])
    assert.deepEqual(args, [
      ['BUILD_IMAGE', image],
      ['BASE_IMAGE', image],
    ])
    assert.equal(text.match(/^FROM /gm)?.length, 2, name)
    assert.deepEqual(
      [...text.matchAll(/^FROM \$\{(\w+)\}(.*)$/gm)].map(([, from, rest]) => [from, rest]),
      [
        ['BUILD_IMAGE', ' AS build'],
        ['BASE_IMAGE', ''],
      ],
      name,
    )
  }
})

test('the images have the same user as the chart, and the file of their entry point exists', () => {
  const [, user = ''] =
    /runAsUser: (\d+)/.exec(readFileSync(join(chartFolder, 'templates/_pod.tpl'), 'utf8')) ?? []
  assert.notEqual(user, '')
  for (const { text } of files) {
    assert.match(text, new RegExp(`^USER ${user}:${user}$`, 'm'))
    const [, entry = ''] = /^ENTRYPOINT \["node", "\/app\/([^"]+)"/m.exec(text) ?? []
    assert.doesNotThrow(() => read(entry))
  }
})

test('the images have the names and the ports of the chart', () => {
  const values = readChartYaml('values.yaml')
  for (const name of ['auth', 'ratelimit', 'console']) {
    assert.equal(values[name].image.repository, `portcullis-${name}`)
    const template = readFileSync(join(chartFolder, `templates/${name}-deployment.yaml`), 'utf8')
    const ports = [...template.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port)
    const text = files.find((file) => file.name === name)?.text ?? ''
    const [, exposed = ''] = /^EXPOSE (.+)$/m.exec(text) ?? []
    assert.deepEqual(exposed.split(' ').sort(), ports.sort(), name)
  }
})

test('the health checks request endpoints that exist', () => {
  const paths = new Set(endpoints.map(({ path }) => path))
  const [auth] = files
  const [, path = ''] = /8081\}(\/\w+)`/.exec(auth?.text ?? '') ?? []
  assert.ok(paths.has(path), path)
  for (const { name, text } of files)
    assert.match(text, /^HEALTHCHECK .*\\\n {2}CMD \["node", /m, name)
})

test('secrets and state of a machine are not copied into images', () => {
  const ignored = read('.dockerignore').split('\n')
  for (const name of ['.env', '.git', '.cache', '.portcullis', 'node_modules']) {
    assert.ok(ignored.includes(`**/${name}`), name)
  }
})

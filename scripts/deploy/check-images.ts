import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { provideProgram } from '@portcullis/test-servers'
import { installDebianPackages } from '../../packages/test-servers/src/programs/debian.ts'
import { run } from '../bare-system/run.ts'
import { createImageBom } from '../release/image-sbom.ts'
import { root } from './chart.ts'
import { baseImage, buildImage, createBaseImages } from './images/base-images.ts'
import { type Buildah, createBuildah } from './images/buildah.ts'
import { type ImageName, images } from './images/images.ts'
import { type ImageConfig, runInImage, startImage } from './images/read-only-run.ts'
import { type SmokeTest, smokeTests } from './images/smoke-tests.ts'

/** Builds and runs every image, and returns a table of their sizes. */
export async function checkImages(cache: string): Promise<string[]> {
  if (process.getuid?.() !== 0)
    throw new Error(
      'The check of the images mounts file systems, so it needs root. Run it as root.',
    )
  const program = await provideBuildah()
  const buildah = createBuildah(program, join(cache, 'buildah'))
  await createBaseImages(buildah, cache)
  const context = await exportHead()
  try {
    const rows: string[] = []
    for (const name of Object.keys(images) as ImageName[]) {
      rows.push(await checkImage(buildah, name, context))
    }
    return ['image                   base  own files', ...rows]
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
}

async function provideBuildah(): Promise<string> {
  return provideProgram('buildah').catch(async () => {
    console.log('Installing buildah (apt-get install buildah)…')
    await installDebianPackages(['buildah'])
    return provideProgram('buildah')
  })
}

/** Exports the last commit, so that files which are not committed do not get into the images. */
async function exportHead(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-context-'))
  const archive = join(folder, 'head.tar')
  await run('git', ['-C', root, 'archive', '--output', archive, 'HEAD'])
  await run('tar', ['--extract', '--file', archive, '-C', folder])
  rmSync(archive)
  return folder
}

async function checkImage(buildah: Buildah, name: ImageName, context: string): Promise<string> {
  const image = `localhost/portcullis-${name}`
  console.log(`Building ${image}…`)
  await buildah.call(
    ...['build', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--quiet'],
    ...['--build-arg', `BUILD_IMAGE=${buildImage}`, '--build-arg', `BASE_IMAGE=${baseImage}`],
    ...['--file', join(context, images[name].containerfile), '--tag', image, context],
  )
  const { Docker: docker } = JSON.parse(await buildah.call('inspect', '--type', 'image', image))
  const config: ImageConfig = docker.config
  return buildah.withRoot(image, async (folder, container) => {
    const node = ['run', '--isolation', 'chroot', container, '--', 'node', '--version']
    assert.equal(await buildah.call(...node), process.version)
    await using test = await openSmokeTest(name)
    await runSmokeTest(folder, config, test)
    assert.ok(createImageBom(name, folder).components.length > 50)
    const megabytes = async (path: string) =>
      Math.round(Number.parseInt(await run('du', ['-sk', path]), 10) / 1024)
    const own = await megabytes(join(folder, 'app'))
    const all = await megabytes(folder)
    return `${`portcullis-${name}`.padEnd(20)} ${`${all - own} MB`.padStart(7)} ${`${own} MB`.padStart(10)}`
  })
}

async function openSmokeTest(name: ImageName) {
  const test = await smokeTests[name]()
  const files = mkdtempSync(join(tmpdir(), 'portcullis-image-files-'))
  for (const [file, text] of Object.entries(test.files ?? {}))
    writeFileSync(join(files, file), text)
  return {
    ...test,
    folder: files,
    async [Symbol.asyncDispose]() {
      await test.close?.()
      rmSync(files, { recursive: true, force: true })
    },
  }
}

async function runSmokeTest(
  folder: string,
  config: ImageConfig,
  {
    env,
    args,
    port,
    use,
    isEndedBySignal = false,
    folder: files,
  }: SmokeTest & { readonly folder: string },
): Promise<void> {
  assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/, 'The user must be a number other than root.')
  await assert.rejects(runInImage(folder, config, ['touch', '/app/new']), /Read-only file system/)
  const child = startImage(folder, config, { env, files, ...(args && { args }) })
  const output = collectOutput(child)
  try {
    const url = `http://127.0.0.1:${port}`
    await waitUntilReady(url, child, output)
    await use(url)
    const [kind, ...check] = config.Healthcheck?.Test ?? []
    assert.equal(kind, 'CMD')
    await runInImage(folder, config, check, { env })
    child.kill('SIGTERM')
    const [code, signal] = await once(child, 'exit')
    const isExpected = isEndedBySignal ? signal === 'SIGTERM' : code === 0
    assert.ok(isExpected, `After SIGTERM, it exited with ${code ?? signal}:\n${output()}`)
    await assert.rejects(runInImage(folder, config, check, { env }), /ended with code 1/)
  } finally {
    child.kill('SIGKILL')
  }
}

function collectOutput(child: ChildProcess): () => string {
  let output = ''
  const add = (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-4000)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => output
}

async function waitUntilReady(url: string, child: ChildProcess, output: () => string) {
  while (child.exitCode === null && child.signalCode === null) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await sleep(50)
  }
  throw new Error(`The server exited with ${child.exitCode ?? child.signalCode}:\n${output()}`)
}

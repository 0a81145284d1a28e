import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A fresh authority with which the test signs what it needs. */
export interface Authority {
  readonly ca: string
  sign(name: string): Promise<Certificate>
}

export async function openAuthority(t: TestContext): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'grpc-unary-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const read = (name: string) => readFile(join(folder, name), 'utf8')

  const forCa = ['-x509', '-days', '2', '-subj', '/CN=test authority']
  await openssl('req', ...newKey, ...forCa, '-keyout', 'ca.key', '-out', 'ca.crt')
  return {
    ca: await read('ca.crt'),
    async sign(name) {
      const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
      await openssl('req', ...newKey, ...names, '-keyout', `${name}.key`, '-out', `${name}.csr`)
      const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1']
      const files = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-copy_extensions', 'copy']
      await openssl('x509', '-req', ...files, ...signer)
      return { key: await read(`${name}.key`), cert: await read(`${name}.crt`) }
    },
  }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { readDefinitions, toFileName, toStrict } from '../kubernetes-schemas.ts'

const definition = `
kind: CustomResourceDefinition
spec:
  group: example.com
  names: { kind: Widget }
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                port: { x-kubernetes-int-or-string: true, anyOf: [{ type: integer }] }
                labels: { type: object, additionalProperties: { type: string } }
                config: { type: object, x-kubernetes-preserve-unknown-fields: true, properties: {} }
                rules: { type: array, items: { type: object, properties: { name: { type: string } } } }
---
kind: ConfigMap
`

test('the schema of a custom resource refuses unknown fields, where the resource does not allow them', () => {
  const [found, ...others] = readDefinitions(definition)
  assert.ok(found)
  assert.deepEqual(others, [])
  const [kind, schema] = found
  assert.equal(toFileName(kind), 'widget-example-v1')
  const validate = new Ajv({ strict: false }).compile(schema)
  const check = (spec: object) =>
    validate({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec })
  for (const valid of [
    { port: 'http' },
    { port: 80 },
    { labels: { a: 'b' } },
    { config: { x: 1 } },
  ]) {
    assert.ok(check(valid), JSON.stringify(valid))
  }
  for (const invalid of [{ prot: 80 }, { labels: { a: 1 } }, { rules: [{ nmae: 'a' }] }]) {
    assert.ok(!check(invalid), JSON.stringify(invalid))
  }
})

test('kubeconform finds the file of a kind of the core group without a group', () => {
  assert.equal(toFileName({ group: '', version: 'v1', kind: 'ConfigMap' }), 'configmap-v1')
  const policy = { group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy' }
  assert.equal(toFileName(policy), 'networkpolicy-networking-v1')
})

test('a schema without properties stays open', () => {
  assert.deepEqual(toStrict({ type: 'object' }), { type: 'object' })
})

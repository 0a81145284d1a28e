import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type EnrollmentModule = typeof import('../../../packages/auth/src/features/factors/enrollment.ts')
type ChallengeModule = typeof import('../../../packages/auth/src/features/factors/challenge.ts')
type EndpointsModule = typeof import('../../../packages/auth/src/features/factors/endpoints.ts')
type Services = Parameters<EnrollmentModule['enroll']>[0]
type Member = Parameters<EnrollmentModule['enroll']>[1]['member']

export const factorKind: Drill = {
  kind: 'factor kind',
  package: 'auth',
  file: 'src/plugins/factors/pigeon.ts',
  source: `
import { boolean, string } from '@portcullis/service-kit/settings/env'
import { invalid } from '../../errors.ts'
import { defineFactorKind } from './factor-kind.ts'

export const pigeon = defineFactorKind({
  label: 'Pigeon',
  method: 'mfa/pigeon',
  codes: { enroll: 'feature_disabled', verify: 'feature_disabled' },
  wrongAnswer: 'Invalid ring number entered',
  isGuessable: true,
  variables: {
    enroll: boolean('AUTH_MFA_PIGEON_ENROLL_ENABLED', false, 'Whether users may add pigeons'),
    verify: boolean('AUTH_MFA_PIGEON_VERIFY_ENABLED', false, 'Whether pigeons are accepted'),
    loft: string('AUTH_MFA_PIGEON_LOFT', '', 'Where pigeons start'),
  },
  enroll: () => ({ shown: { ring: '42' } }),
  challenge: (_services, _ask, { loft }) => ({ shown: { loft } }),
  checkForm({ code }) {
    if (code === '') throw invalid('Code needs to be non-empty')
  },
  check: (_services, { answer }) => (answer.code === '42' ? {} : undefined),
})
`,
  exported: 'pigeon',
  index: { file: 'src/plugins/factors/index.ts', list: 'factorKinds' },
  help: ['AUTH_MFA_PIGEON_ENROLL_ENABLED', 'AUTH_MFA_PIGEON_LOFT', 'GOTRUE_MFA_PIGEON_LOFT'],
  async prove(copy) {
    const config = await parseCopiedConfig(copy, {
      AUTH_MFA_PIGEON_ENROLL_ENABLED: 'true',
      AUTH_MFA_PIGEON_VERIFY_ENABLED: 'true',
      AUTH_MFA_PIGEON_LOFT: 'the roof',
    })
    const services = {
      config,
      now: Date.now,
      db: { run: async () => [{ id: 'written' }] },
    } as unknown as Services
    const factor = { id: 'a', factor_type: 'pigeon', status: 'unverified', created_at: '' }
    const member = { id: 'b', factors: [] } as unknown as Member
    const client = { ip: '192.0.2.1', userAgent: '' }

    const { enroll } = await copy.load<EnrollmentModule>('src/features/factors/enrollment.ts')
    const request = { member, friendlyName: '', issuer: undefined, phone: undefined, client }
    const { type, ring } = await enroll(services, { ...request, type: 'pigeon' })
    assert.deepEqual([type, ring], ['pigeon', '42'])
    await assert.rejects(enroll(services, { ...request, type: 'owl' }), /to be pigeon, totp, /)

    const { challenge } = await copy.load<ChallengeModule>('src/features/factors/challenge.ts')
    const asked = await challenge(services, {
      ...{ member: { ...member, factors: [factor] } as unknown as Member, client },
      ...{ factorId: factor.id, channel: undefined, webauthn: undefined },
    })
    assert.equal(asked['loft'], 'the roof')

    const { enrollFactor } = await copy.load<EndpointsModule>('src/features/factors/endpoints.ts')
    assert.match(JSON.stringify(enrollFactor.body), /pigeon, totp, phone or webauthn/)
  },
}

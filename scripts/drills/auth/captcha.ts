import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type CaptchaModule = typeof import('../../../packages/auth/src/plugins/captcha/create-captcha.ts')

export const captcha: Drill = {
  kind: 'CAPTCHA',
  package: 'auth',
  file: 'src/plugins/captcha/pigeon.ts',
  source: `
import type { CaptchaService } from './captcha.ts'

export const pigeon: CaptchaService = {
  url: 'https://captcha.pigeon.example/verify',
  configurationErrors: ['bad-secret'],
  providerFailures: ['asleep'],
}
`,
  exported: 'pigeon',
  index: { file: 'src/plugins/captcha/index.ts', list: 'captchaServices' },
  help: ['pigeon, hcaptcha, turnstile'],
  async prove(copy) {
    const { captcha: config } = await parseCopiedConfig(copy, {
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'pigeon',
      AUTH_SECURITY_CAPTCHA_SECRET: 'our secret',
    })
    assert.ok(config)
    const path = 'src/plugins/captcha/create-captcha.ts'
    const { createCaptcha } = await copy.load<CaptchaModule>(path)
    const urls: string[] = []
    const service = createCaptcha({
      config,
      log: { error: () => assert.fail() },
      async post(url) {
        urls.push(url)
        return { status: 200, body: { success: true } }
      },
    })
    assert.deepEqual(await service.findReasons('token', '192.0.2.1'), [])
    assert.deepEqual(urls, ['https://captcha.pigeon.example/verify'])
  },
}

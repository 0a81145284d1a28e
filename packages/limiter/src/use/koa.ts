export * from '@portcullis/ratelimit/use/koa'

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A disk, /dev/slow0, that serves one request at a time, each in no less than
 * the module's parameter ms: what a request waits is known then, and served_us is how
 * long all of them took.  It is a megabyte, which keeps its data as long as the module is
 * there, and takes discards.
 *
 * Whoever asks for something may be the one who serves it, and waits within the driver
 * then; with beside=1 a thread of the kernel's serves all, as where a disk does it.
 */
#include <linux/blk-mq.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define DISK_SECTORS 2048

static unsigned int ms = 20;
module_param(ms, uint, 0444);

static bool beside;
module_param(beside, bool, 0444);

static unsigned long served_us;
module_param(served_us, ulong, 0444);

static DEFINE_MUTEX(disk_lock);
static struct workqueue_struct *disk_queue;
static struct gendisk *disk;
static char *disk_data;

static void disk_copy(struct request *rq)
{
	char *at = disk_data + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator i;
	struct bio_vec part;

	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return;
	rq_for_each_segment(part, rq, i) {
		if (req_op(rq) == REQ_OP_WRITE)
			memcpy_from_bvec(at, &part);
		else
			memcpy_to_bvec(&part, at);
		at += part.bv_len;
	}
}

/* By the one or the other call, as the scheduler lets it. */
static void disk_end(struct request *rq)
{
	DEFINE_IO_COMP_BATCH(batch);

	if (blk_mq_add_to_batch(rq, &batch, false, blk_mq_end_request_batch))
		blk_mq_end_request_batch(&batch);
	else
		blk_mq_end_request(rq, BLK_STS_OK);
}

static void disk_do(struct request *rq)
{
	ktime_t began;

	mutex_lock(&disk_lock);
	began = ktime_get();
	if (!beside)
		blk_mq_start_request(rq);
	msleep(ms);
	disk_copy(rq);
	served_us += ktime_us_delta(ktime_get(), began);
	disk_end(rq);
	mutex_unlock(&disk_lock);
}

struct disk_request {
	struct work_struct work;
};

static void disk_work(struct work_struct *work)
{
	disk_do(blk_mq_rq_from_pdu(container_of(work, struct disk_request, work)));
}

static blk_status_t
disk_serve(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct disk_request *r = blk_mq_rq_to_pdu(bd->rq);

	if (beside) {
		blk_mq_start_request(bd->rq);
		INIT_WORK(&r->work, disk_work);
		queue_work(disk_queue, &r->work);
	} else {
		disk_do(bd->rq);
	}
	return BLK_STS_OK;
}

static const struct blk_mq_ops disk_ops = { .queue_rq = disk_serve };
static const struct block_device_operations disk_fops = {
	.owner = THIS_MODULE
};
static struct blk_mq_tag_set disk_tags = {
	.ops = &disk_ops,
	.nr_hw_queues = 1,
	.queue_depth = 64,
	.numa_node = NUMA_NO_NODE,
	.cmd_size = sizeof(struct disk_request),
	.flags = BLK_MQ_F_BLOCKING,
};

static int __init disk_init(void)
{
	struct queue_limits limits = {
		.max_hw_discard_sectors = DISK_SECTORS,
		.discard_granularity = SECTOR_SIZE,
	};
	int rc;

	disk_data = vzalloc(DISK_SECTORS << SECTOR_SHIFT);
	if (!disk_data)
		return -ENOMEM;
	rc = -ENOMEM;
	disk_queue = alloc_ordered_workqueue("disk", 0);
	if (!disk_queue)
		goto no_queue;
	rc = blk_mq_alloc_tag_set(&disk_tags);
	if (rc)
		goto no_tags;
	disk = blk_mq_alloc_disk(&disk_tags, &limits, NULL);
	if (IS_ERR(disk)) {
		rc = PTR_ERR(disk);
		goto no_disk;
	}
	disk->fops = &disk_fops;
	/* what it does not hold it need not be asked for */
	disk->flags |= GENHD_FL_NO_PART;
	strscpy(disk->disk_name, "slow0", sizeof(disk->disk_name));
	set_capacity(disk, DISK_SECTORS);
	rc = add_disk(disk);
	if (!rc)
		return 0;
	put_disk(disk);
no_disk:
	blk_mq_free_tag_set(&disk_tags);
no_tags:
	destroy_workqueue(disk_queue);
no_queue:
	vfree(disk_data);
	return rc;
}

static void __exit disk_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	blk_mq_free_tag_set(&disk_tags);
	destroy_workqueue(disk_queue);
	vfree(disk_data);
}

module_init(disk_init);
module_exit(disk_exit);
MODULE_DESCRIPTION("A slow disk for a test");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: MIT */
/*
 * The members of DMA_OPERATIONS, by the files that have them. Each checks its adapter and its
 * level, and is called by drivers through the table alone.
 */
#ifndef DXGK_NT_DMA_MEMBERS_H
#define DXGK_NT_DMA_MEMBERS_H

#include <ntddk.h>

#define NT_DMA_MEMBER(type, name) __typeof__(*(type)0) name

/* common_buffer.c */
NT_DMA_MEMBER(PALLOCATE_COMMON_BUFFER, nt_dma_allocate_common_buffer);
NT_DMA_MEMBER(PALLOCATE_COMMON_BUFFER_EX, nt_dma_allocate_common_buffer_ex);
NT_DMA_MEMBER(PALLOCATE_COMMON_BUFFER_WITH_BOUNDS, nt_dma_allocate_common_buffer_with_bounds);
NT_DMA_MEMBER(PFREE_COMMON_BUFFER, nt_dma_free_common_buffer);

/* scatter_gather.c */
NT_DMA_MEMBER(PGET_SCATTER_GATHER_LIST, nt_dma_get_list);
NT_DMA_MEMBER(PBUILD_SCATTER_GATHER_LIST, nt_dma_build_list);
NT_DMA_MEMBER(PPUT_SCATTER_GATHER_LIST, nt_dma_put_list);
NT_DMA_MEMBER(PCALCULATE_SCATTER_GATHER_LIST_SIZE, nt_dma_calculate_list);
NT_DMA_MEMBER(PGET_DMA_TRANSFER_INFO, nt_dma_transfer_info);
NT_DMA_MEMBER(PGET_SCATTER_GATHER_LIST_EX, nt_dma_get_list_ex);
NT_DMA_MEMBER(PBUILD_SCATTER_GATHER_LIST_EX, nt_dma_build_list_ex);

/* adapter_channel.c */
NT_DMA_MEMBER(PALLOCATE_ADAPTER_CHANNEL, nt_dma_allocate_channel);
NT_DMA_MEMBER(PALLOCATE_ADAPTER_CHANNEL_EX, nt_dma_allocate_channel_ex);
NT_DMA_MEMBER(PCANCEL_ADAPTER_CHANNEL, nt_dma_cancel_channel);
NT_DMA_MEMBER(PFREE_ADAPTER_CHANNEL, nt_dma_free_channel);
NT_DMA_MEMBER(PFREE_ADAPTER_OBJECT, nt_dma_free_object);
NT_DMA_MEMBER(PFREE_MAP_REGISTERS, nt_dma_free_registers);

/* map_transfer.c */
NT_DMA_MEMBER(PMAP_TRANSFER, nt_dma_map_transfer);
NT_DMA_MEMBER(PMAP_TRANSFER_EX, nt_dma_map_transfer_ex);
NT_DMA_MEMBER(PFLUSH_ADAPTER_BUFFERS, nt_dma_flush_buffers);
NT_DMA_MEMBER(PFLUSH_ADAPTER_BUFFERS_EX, nt_dma_flush_buffers_ex);
NT_DMA_MEMBER(PFLUSH_DMA_BUFFER, nt_dma_flush_buffer);

/* dma_not_offered.c */
NT_DMA_MEMBER(PREAD_DMA_COUNTER, nt_dma_read_counter);
NT_DMA_MEMBER(PBUILD_MDL_FROM_SCATTER_GATHER_LIST, nt_dma_build_mdl);
NT_DMA_MEMBER(PCONFIGURE_ADAPTER_CHANNEL, nt_dma_configure_channel);
NT_DMA_MEMBER(PCANCEL_MAPPED_TRANSFER, nt_dma_cancel_transfer);
NT_DMA_MEMBER(PALLOCATE_DOMAIN_COMMON_BUFFER, nt_dma_allocate_domain_buffer);
NT_DMA_MEMBER(PJOIN_DMA_DOMAIN, nt_dma_join_domain);
NT_DMA_MEMBER(PLEAVE_DMA_DOMAIN, nt_dma_leave_domain);
NT_DMA_MEMBER(PGET_DMA_DOMAIN, nt_dma_get_domain);
NT_DMA_MEMBER(PALLOCATE_COMMON_BUFFER_VECTOR, nt_dma_allocate_vector);
NT_DMA_MEMBER(PGET_COMMON_BUFFER_FROM_VECTOR_BY_INDEX, nt_dma_vector_buffer);
NT_DMA_MEMBER(PFREE_COMMON_BUFFER_FROM_VECTOR, nt_dma_free_from_vector);
NT_DMA_MEMBER(PFREE_COMMON_BUFFER_VECTOR, nt_dma_free_vector);
NT_DMA_MEMBER(PCREATE_COMMON_BUFFER_FROM_MDL, nt_dma_buffer_from_mdl);

#endif

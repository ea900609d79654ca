/* Prints the agents that the HSA runtime finds, and their memory. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>

static hsa_status_t pool(hsa_amd_memory_pool_t pool, void *data) {
    (void)data;
    hsa_amd_segment_t segment;
    size_t size;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
    printf("  %s %zu\n", segment == HSA_AMD_SEGMENT_GROUP ? "LDS" : "memory", size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent(hsa_agent_t agent, void *data) {
    (void)data;
    char name[64] = "", product[64] = "";
    hsa_device_type_t type;
    uint32_t cus = 0, wavefront = 0;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
    hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
    hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &cus);
    hsa_agent_get_info(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &wavefront);
    printf("%s, %s, %u CUs, wavefronts of %u\n", name, product, cus, wavefront);
    return hsa_amd_agent_iterate_memory_pools(agent, pool, NULL);
}

int main(void) {
    hsa_status_t status = hsa_init();
    if (status != HSA_STATUS_SUCCESS) {
        printf("hsa_init: %#x\n", status);
        return 1;
    }
    hsa_iterate_agents(agent, NULL);
    return hsa_shut_down() != HSA_STATUS_SUCCESS;
}
